import type { CommandWorld } from '../command.ts';
import { addressOf, isOfThisComputer } from '../connect.ts';
import { readKeptLogin } from '../credentials.ts';
import { VERSION } from '../version.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const PATIENCE_MS = 10_000;
/** A code of an authenticator app lives half a minute. */
const SKEW_THAT_MATTERS_MS = 30_000;
/** From here on signatures and sessions are refused. */
const SKEW_THAT_BREAKS_MS = 300_000;

/** Which gateway is meant, by whose word, and over what. */
export async function checkAddress(world: CommandWorld): Promise<Finding[]> {
  const address = addressOf(world, await readKeptLogin(world, world.profile));
  const said = `${address}, by ${sourceOf(world, address)}`;
  const { protocol, hostname } = new URL(address);
  const tls =
    protocol === 'https:'
      ? ok('tls', 'the connection is encrypted, and the certificate is checked')
      : isOfThisComputer(address)
        ? ok('tls', 'not needed: the gateway is on this computer')
        : warn('tls', `keys and prompts go to ${hostname} unencrypted`, 'Use an https:// address.');
  return [ok('address', said), tls];
}

function sourceOf({ baseUrl, env }: CommandWorld, address: string): string {
  if (baseUrl !== undefined) return '--base-url';
  if (env.baseUrl !== undefined) return 'TALLYGATE_BASE_URL';
  return address === 'http://127.0.0.1:8787' ? 'default' : 'the login';
}

/** Whether it answers, speaks the same version, and has the same time. */
export async function checkGateway(world: CommandWorld): Promise<Finding[]> {
  const client = await world.connect('none');
  const startedMs = performance.now();
  const { data, response } = await client.discovery.status({ signal: world.signal, maxRetries: 0, timeoutMs: PATIENCE_MS }).withResponse();
  const tookMs = Math.round(performance.now() - startedMs);
  const isServing = data.status === 'ok';
  const reached = `${data.name} ${data.version}, ${data.status}, answered in ${tookMs} ms`;
  return [
    isServing ? ok('gateway', reached) : warn('gateway', reached, 'It is being stopped or replaced: try again in a moment.'),
    lineOf(data.version) === lineOf(VERSION)
      ? ok('version', `this command is ${VERSION}`)
      : warn(
          'version',
          `this command is ${VERSION}, the gateway ${data.version}`,
          `Run \`npm install --global tallygate@${data.version}\`.`,
        ),
    ...clockOf(response.headers.get('date'), world.now()),
  ];
}

/** Before 1.0 the second number is what may break. */
const lineOf = (version: string): string =>
  version.startsWith('0.') ? version.split('.').slice(0, 2).join('.') : (version.split('.')[0] ?? '');

function clockOf(date: string | null, now: Date): Finding[] {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return [];
  const skewMs = now.getTime() - theirs;
  const seconds = Math.abs(Math.round(skewMs / 1000));
  const said = `${seconds} ${seconds === 1 ? 'second' : 'seconds'} ${skewMs < 0 ? 'behind' : 'ahead of'} the gateway’s`;
  const nextStep = 'Let the computer set its clock by itself (NTP).';
  if (Math.abs(skewMs) >= SKEW_THAT_BREAKS_MS) return [fail('clock', said, nextStep)];
  return [Math.abs(skewMs) >= SKEW_THAT_MATTERS_MS ? warn('clock', said, nextStep) : ok('clock', said)];
}
