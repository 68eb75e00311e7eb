import type { Command } from 'commander';
import { command, option } from '../../contract/hint.ts';
import type { Add } from '../program.ts';
import { examples } from './examples.ts';

/** The commands of `keys` and `wallets`. */
export function addSimulator(add: Add, program: Command): void {
  const simulator = async () => import('../actions/simulator.ts');
  const keys = program
    .command('keys')
    .description("the merchant's keys")
    .addHelpText(...examples('gateway-sim keys', 'gateway-sim keys env'));
  add(keys, 'show', 'the pair of keys', async () => (await simulator()).showKeys)
    .option('--merchant <name>', 'of this merchant (default: the first one)')
    .addHelpText(...examples('gateway-sim keys show'));
  add(keys, 'generate', 'a new pair; the old one stops working', async () => (await simulator()).generateKeys)
    .option('--merchant <name>', 'of this merchant; a new name makes one (default: the first one)')
    .addHelpText(
      ...examples('gateway-sim keys generate', 'gateway-sim keys generate --merchant "Second Shop"'),
    );
  add(keys, 'env', 'the keys as lines of a .env file', async () => (await simulator()).keysEnv)
    .option('--merchant <name>', 'of this merchant (default: the first one)')
    .addHelpText(...examples('gateway-sim keys env >>.env'));
  const wallets = program
    .command('wallets')
    .description('the wallets of live mode')
    .addHelpText(...examples('gateway-sim wallets', 'gateway-sim wallets fund wal_poor_usd --amount 100'));
  add(wallets, 'list', 'all wallets', async () => (await simulator()).listWallets).addHelpText(
    ...examples('gateway-sim wallets list'),
  );
  add(wallets, 'fund <id>', 'put money into a wallet', async () => (await simulator()).fundWallet)
    .requiredOption('--amount <amount>', 'amount as decimal text')
    .addHelpText(...examples('gateway-sim wallets fund wal_poor_usd --amount 100'));
}
