import type { IpnTools } from '../dialect.ts';
import { composeIpn, inventedFields } from './compose.ts';

export { verify } from './verify.ts';

export const invent: IpnTools['invent'] = (chosen, made, composition) =>
  composeIpn(inventedFields(chosen, made), made.secretKey, composition);
