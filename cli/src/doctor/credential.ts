import type { Tallygate } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { addressOf, type Source, sourceFor } from '../connect.ts';
import { credentialsPath, type KeptLogin, readKeptLogin } from '../credentials.ts';
import { notLoggedIn } from '../failure.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const SOON_MS = 7 * 86_400_000;

/** Which credential is in use, whose it is, what it may do, and until when. */
export async function checkCredential(world: CommandWorld): Promise<Finding[]> {
  const login = await readKeptLogin(world, world.profile);
  const source = sourceFor(world, 'any', addressOf(world, login), login);
  if (source === undefined) {
    const { message, nextStep = null } = notLoggedIn(' at this address');
    return [fail('credential', message, nextStep)];
  }
  const client = await world.connect();
  const { email, role } = await client.identity.me({ signal: world.signal });
  const rights = source === 'TALLYGATE_API_KEY' ? await rightsOfKey(world, client) : [ok('scopes', `all rights of the role ${role}`)];
  return [ok('credential', `${placeOf(world, source, login)}, of ${email}`), ...rights, ...expiryOf(world, source, login)];
}

function placeOf(world: CommandWorld, source: Source, login: KeptLogin | undefined): string {
  if (source !== 'login') return source;
  const kept = login?.keyring_entry === undefined ? credentialsPath(world) : (world.keyring?.name ?? 'a keyring');
  return `the login of profile "${world.profile}" in ${kept}`;
}

async function rightsOfKey({ env, signal, now }: CommandWorld, client: Tallygate): Promise<Finding[]> {
  const key = (await client.keys.list({ signal })).find(({ prefix }) => env.apiKey?.startsWith(prefix));
  if (key === undefined) return [];
  const lacks = (['inference', 'account:read'] as const).filter((scope) => !key.scopes.includes(scope));
  const said = `"${key.name}", ${key.livemode ? 'live' : 'test'}: ${key.scopes.join(', ')}`;
  return [
    lacks.length === 0
      ? ok('scopes', said)
      : warn(
          'scopes',
          `${said}; it lacks ${lacks.join(', ')}`,
          'That may be meant; else make another key: `tallygate keys create --scopes …`.',
        ),
    ...(key.expires_at === null
      ? []
      : [
          endOf(
            now(),
            key.expires_at,
            'Make another one with `tallygate keys create`, or move it with `tallygate keys update KEY --expires`.',
          ),
        ]),
  ];
}

const expiryOf = ({ now }: CommandWorld, source: Source, login: KeptLogin | undefined): Finding[] =>
  source === 'login' && login !== undefined
    ? [endOf(now(), login.expires_at, 'It moves on with use, up to 90 days after the login; then run `tallygate login`.')]
    : [];

function endOf(now: Date, at: string, nextStep: string): Finding {
  const leftMs = Date.parse(at) - now.getTime();
  return leftMs < SOON_MS ? warn('expiry', at, nextStep) : ok('expiry', at);
}

/** Caps of keys: what would refuse the next request over money. */
export async function checkBudgets({ connect, signal }: CommandWorld): Promise<Finding[]> {
  const { items, period, spent_usd } = await (await connect()).budgets.summary({ signal });
  const used = items.filter(({ revoked }) => !revoked);
  const named = (wanted: string) =>
    used
      .filter(({ status }) => status === wanted)
      .map(({ name }) => `"${name}"`)
      .join(', ');
  const [full, near] = [named('exceeded'), named('warning')];
  if (full !== '') return [warn('budgets', `the cap of ${full} is reached`, 'Raise it with `tallygate budgets set KEY AMOUNT`.')];
  if (near !== '') return [warn('budgets', `the cap of ${near} is near`, 'See `tallygate budgets show`.')];
  return [ok('budgets', `${used.length} keys below their caps; live keys spent ${spent_usd} USD in ${period}`)];
}

/** The plan of the account, and whether an invoice is due. */
export async function checkPlan({ connect, signal }: CommandWorld): Promise<Finding[]> {
  const { plan, subscription } = await (await connect()).plans.current({ signal });
  const state = subscription.status.replace('_', ' ');
  if (['past_due', 'unpaid', 'incomplete'].includes(subscription.status))
    return [warn('plan', `${plan.name}, ${state}`, 'Change the card: `tallygate plans billing --portal`.')];
  return [ok('plan', `${plan.name}, ${subscription.status === 'none' ? 'nothing to pay for' : state}`)];
}
