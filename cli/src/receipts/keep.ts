import { isDeepStrictEqual } from 'node:util';
import type { PublishedPrices, ReceiptPayload } from '@tallygate/receipts';
import type { Tallygate, VaasKeySet } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { keptPricesPath, keySetPath } from '../credentials.ts';
import { reportOf } from '../failure.ts';
import { forgetWitnesses } from '../log/witnesses.ts';
import { plainText } from '../print.ts';
import { keysTogether } from './kept-keys.ts';
import { firstPublished, priceIn, publishedPrices } from './published-prices.ts';

/** What came of keeping what is published. */
export interface Kept {
  /** A sentence on it. */
  readonly said: string;
  /** Whether something published contradicts what was kept before; that was not taken over. */
  readonly isContradicted: boolean;
}

interface KeepOptions {
  /** Where none of the kept keys is published, they give way, and are put aside. */
  readonly isReplacing: boolean;
}

/**
 * Keeps the gateway's public receipt keys for the profile, beside those of earlier times, and says on stderr what has changed since.
 */
export async function keepKeySet(world: CommandWorld, { isReplacing }: KeepOptions): Promise<Kept> {
  const client = await world.connect('none');
  const published = (await client.receipts.keys({ signal: world.signal })).keys;
  const path = keySetPath(world, world.profile);
  const before = await keysBefore(world, path);
  const isSameGateway = before.keys.some(({ kid }) => published.some((key) => key.kid === kid));
  if (before.text !== undefined && !isSameGateway && !isReplacing) {
    const said = `None of the keys that are kept in ${path} is published by ${client.baseUrl}: nothing was changed.\nWhere it is another gateway, \`--replace\` puts them aside.`;
    return { said, isContradicted: true };
  }
  if (before.text !== undefined && !isSameGateway) {
    // Another gateway, or one that denies all it has published: which of the two, only the reader knows.
    const aside = await putAside(world, path, before.text);
    world.err.write(`None of the keys that were kept is published by ${client.baseUrl}; they are in ${aside} now.\n`);
    await putPricesAside(world);
    await forgetWitnesses(world);
  }
  const isUnchanged = isSameGateway && isDeepStrictEqual(sorted(before.keys), sorted(published));
  const { keys, changes, contradictions } =
    isSameGateway && !isUnchanged
      ? await keysTogether(before.keys, published, await declaredKeys(client, world.signal))
      : { keys: isUnchanged ? before.keys : published, changes: [], contradictions: [] };
  for (const change of [...changes, ...contradictions]) world.err.write(plainText(`${change}\n`));
  if (contradictions.length > 0) world.err.write('That contradicts the keys that are kept, and was not taken over.\n');
  await world.writeFile(path, `${JSON.stringify({ keys }, null, 2)}\n`, { isPrivate: true });
  return { said: `Kept ${keys.length} of ${client.baseUrl} in ${path}.`, isContradicted: contradictions.length > 0 };
}

const sorted = (keys: VaasKeySet['keys']): VaasKeySet['keys'] => [...keys].sort((a, b) => (a.kid < b.kid ? -1 : 1));

/** A page of the log's declarations. */
const PAGE = 1_000;

/** What the log says of keys, all of it against one state: what a log declares later is asked for the next time. */
async function declaredKeys(client: Tallygate, signal: AbortSignal): Promise<unknown> {
  const keys = await client.receipts.declarations({ kind: 'key', limit: PAGE }, { signal });
  const ends = await client.receipts.declarations({ kind: 'key_retired', limit: PAGE }, { signal });
  return keys.checkpoint === ends.checkpoint
    ? { ...ends, declarations: [...keys.declarations, ...ends.declarations] }
    : declaredKeys(client, signal);
}

async function putAside(world: CommandWorld, path: string, text: string): Promise<string> {
  const aside = path.replace(/json$/, `${world.now().getTime()}.json`);
  await world.writeFile(aside, text, { isPrivate: true });
  return aside;
}

/** Prices are those of the gateway whose keys were kept with them: another one at the same address has published none of them. */
async function putPricesAside(world: CommandWorld): Promise<void> {
  const path = keptPricesPath(world, world.profile);
  const text = await world.readFile(path);
  if (text === undefined) return;
  const aside = await putAside(world, path, text);
  await world.writeFile(path, `${JSON.stringify({ prices: {} }, null, 2)}\n`, { isPrivate: true });
  world.err.write(`The prices that were kept with them are in ${aside}.\n`);
}

/** The file as it is, and the keys in it; none where it holds something else. */
async function keysBefore(world: CommandWorld, path: string): Promise<{ text: string | undefined; keys: VaasKeySet['keys'] }> {
  const text = await world.readFile(path);
  if (text === undefined) return { text, keys: [] };
  try {
    const keys: unknown = JSON.parse(text).keys;
    return { text, keys: Array.isArray(keys) ? keys : [] };
  } catch {
    return { text, keys: [] };
  }
}

/** One that has changed a price may have changed a thousand. */
const MOST_NAMED = 5;

/**
 * Keeps the gateway's published prices for the profile, so that receipts are compared with them. Those kept before stay, whatever the
 * gateway says of them later: receipts of their time name them.
 *
 * What hinders is a remark on stderr and no failure: receipts verify without prices, and say so.
 */
export async function keepPrices(world: CommandWorld): Promise<Pick<Kept, 'isContradicted'>> {
  try {
    const client = await world.connect('none');
    const published = publishedPrices(await client.models.prices({ signal: world.signal }));
    const path = keptPricesPath(world, world.profile);
    const { prices: kept, at } = await keptBefore(world, path, client.baseUrl);
    const changed = rewritten(kept, published);
    const backdated = datedBack(kept, published, at);
    for (const name of changed.slice(0, MOST_NAMED))
      world.err.write(plainText(`The gateway has changed the price of ${name} after the fact; the one in ${path} stays.\n`));
    if (changed.length > MOST_NAMED) world.err.write(`So it has with ${changed.length - MOST_NAMED} more.\n`);
    for (const name of backdated.slice(0, MOST_NAMED))
      world.err.write(plainText(`The gateway has dated the price of ${name} back: it was not published when prices were kept last.\n`));
    const taken = without(published, backdated);
    const content = { base_url: client.baseUrl, kept_at: world.now().toISOString(), prices: firstPublished(kept, taken) };
    await world.writeFile(path, `${JSON.stringify(content, null, 2)}\n`, { isPrivate: true });
    return { isContradicted: changed.length + backdated.length > 0 };
  } catch (error) {
    const { message } = await reportOf(error);
    world.err.write(plainText(`The published prices could not be kept (${message}); \`tallygate receipts keys\` fetches them later.\n`));
    return { isContradicted: false };
  }
}

/**
 * Keeps the published prices anew where the receipt's is not among those of its gateway: one that was set since the login. Where none are kept, or
 * another gateway's, they stay as they are.
 */
export async function keepPriceOf(
  world: CommandWorld,
  {
    model_served: model,
    price_version: version,
    cost_nano_usd: cost,
  }: Pick<ReceiptPayload, 'model_served' | 'price_version' | 'cost_nano_usd'>,
): Promise<void> {
  if (cost === '0') return;
  const { baseUrl } = await world.connect('none');
  const { prices: kept } = await keptBefore(world, keptPricesPath(world, world.profile), baseUrl);
  if (Object.keys(kept).length > 0 && priceIn(kept, model, version) === undefined) await keepPrices(world);
}

/** The prices of this gateway from earlier times. Those of another gateway, or an unreadable file, give way to the new ones. */
async function keptBefore(world: CommandWorld, path: string, baseUrl: string): Promise<KeptPrices> {
  const text = await world.readFile(path);
  const none = { prices: {}, at: undefined };
  if (text === undefined) return none;
  try {
    const content = JSON.parse(text);
    return content.base_url === baseUrl ? { prices: publishedPrices(content), at: content.kept_at } : none;
  } catch {
    return none;
  }
}

interface KeptPrices {
  readonly prices: PublishedPrices;
  /** RFC 3339; undefined where nothing was kept. */
  readonly at: string | undefined;
}

/** How far the clocks of this computer and the gateway may be apart. */
const CLOCKS_APART_MS = 300_000;

/** Versions that were not published when prices were kept last, and are said to have been charged before. */
function datedBack(kept: PublishedPrices, published: PublishedPrices, at: string | undefined): string[] {
  if (at === undefined) return [];
  return Object.entries(published).flatMap(([model, versions]) =>
    Object.entries(versions).flatMap(([version, { effective_from: from }]) =>
      priceIn(kept, model, version) === undefined && from !== undefined && Date.parse(from) < Date.parse(at) - CLOCKS_APART_MS
        ? [`${model} in version ${version}`]
        : [],
    ),
  );
}

const without = (published: PublishedPrices, names: readonly string[]): PublishedPrices =>
  Object.fromEntries(
    Object.entries(published).map(([model, versions]) => [
      model,
      Object.fromEntries(Object.entries(versions).filter(([version]) => !names.includes(`${model} in version ${version}`))),
    ]),
  );

const rewritten = (kept: PublishedPrices, published: PublishedPrices): string[] =>
  Object.entries(published).flatMap(([model, versions]) =>
    Object.entries(versions).flatMap(([version, price]) => {
      const before = priceIn(kept, model, version);
      return before === undefined || isDeepStrictEqual({ ...price, ...before }, { ...before, ...price })
        ? []
        : [`${model} in version ${version}`];
    }),
  );
