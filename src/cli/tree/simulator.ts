import type { Command } from 'commander';
import type { Add } from '../program.ts';

/** The commands of `keys` and `wallets`. */
export function addSimulator(add: Add, program: Command): void {
  const simulator = async () => import('../commands/simulator.ts');
  const keys = program.command('keys').description("the merchant's keys");
  add(keys, 'show', 'the pair of keys', async () => (await simulator()).showKeys).option(
    '--merchant <name>',
    'of this merchant (default: the first one)',
  );
  add(
    keys,
    'generate',
    'a new pair; the old one stops working',
    async () => (await simulator()).generateKeys,
  ).option('--merchant <name>', 'of this merchant; a new name makes one (default: the first one)');
  add(keys, 'env', 'the keys as lines of a .env file', async () => (await simulator()).keysEnv).option(
    '--merchant <name>',
    'of this merchant (default: the first one)',
  );
  const wallets = program.command('wallets').description('the wallets of live mode');
  add(wallets, 'list', 'all wallets', async () => (await simulator()).listWallets);
  add(
    wallets,
    'fund <id>',
    'put money into a wallet',
    async () => (await simulator()).fundWallet,
  ).requiredOption('--amount <amount>', 'amount as decimal text');
}
