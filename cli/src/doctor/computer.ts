import type { CommandWorld } from '../command.ts';
import { type Finding, ok, warn } from './finding.ts';

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];
/** From here on Node's own fetch goes through the proxy of the environment, if one is set. */
const KNOWS_PROXIES = 24;

/** Of this computer: what needs no gateway. */
export function checkComputer({ env, out, input, keyring }: CommandWorld): Finding[] {
  const looks = out.isTty ? 'people read stdout: tables' : 'stdout is a pipe or a file: tab-separated lines';
  return [
    ok('terminal', `${looks}; colours ${env.hasColor ? 'on' : 'off'}; questions ${input.isTty ? 'are asked' : 'are not asked'}`),
    ok(
      'keyring',
      keyring === undefined
        ? 'none here, or switched off: logins go into a file that is yours alone'
        : `new logins go into ${keyring.name} where it takes them`,
    ),
    checkProxy(env),
  ];
}

function checkProxy({ variable, nodeVersion }: CommandWorld['env']): Finding {
  const name = PROXIES.find((each) => variable(each) !== undefined);
  if (name === undefined) return ok('proxy', 'none in the environment');
  if (Number.parseInt(nodeVersion, 10) < KNOWS_PROXIES)
    return warn('proxy', `${name} is set, and Node ${nodeVersion} goes past it`, 'Use Node 24 or newer with NODE_USE_ENV_PROXY=1.');
  if (variable('NODE_USE_ENV_PROXY') !== '1')
    return warn('proxy', `${name} is set, and Node goes past it`, 'Set NODE_USE_ENV_PROXY=1 to go through it, or unset it.');
  return ok('proxy', `${name}, and NO_PROXY is ${variable('NO_PROXY') ?? variable('no_proxy') ?? 'not set'}`);
}
