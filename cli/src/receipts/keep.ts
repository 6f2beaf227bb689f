import { isDeepStrictEqual } from 'node:util';
import type { PublishedPrices, ReceiptPayload } from '@tallygate/receipts';
import type { Tallygate, VaasKeySet } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { keptPricesPath, keySetPath } from '../credentials.ts';
import { EXIT } from '../exit-codes.ts';
import { reportOf } from '../failure.ts';
import { forgetWitnesses } from '../log/witnesses.ts';
import { plainText } from '../print.ts';
import { keysTogether } from './kept-keys.ts';
import { firstPublished, priceIn, publishedPrices } from './published-prices.ts';

/** What came of keeping what is published. */
export interface Kept {
  /** A sentence on it. */
  readonly said: string;
  /** Whether published data contradicts the stored data; it was not stored then. */
  readonly isContradicted: boolean;
}

interface KeepOptions {
  /** If none of the stored keys is published, they are moved to a backup file and replaced. */
  readonly isReplacing: boolean;
}

/**
 * Stores the gateway's public receipt keys for the profile, beside earlier ones, and reports on stderr what has changed.
 */
export async function keepKeySet(world: CommandWorld, { isReplacing }: KeepOptions): Promise<Kept> {
  const client = await world.connect('none');
  const published = (await client.receipts.keys({ signal: world.signal })).keys;
  const path = keySetPath(world, world.profile);
  const before = await keysBefore(world, path);
  const isSameGateway = before.keys.some(({ kid }) => published.some((key) => key.kid === kid));
  if (before.text !== undefined && !isSameGateway && !isReplacing) {
    const said = `None of the keys stored in ${path} is published by ${client.baseUrl}: nothing was changed.\nIf it is another gateway, \`--replace\` moves them to a backup file.`;
    return { said, isContradicted: true };
  }
  if (before.text !== undefined && !isSameGateway) {
    // Another gateway, or one that denies all it has published: which of the two, only the reader knows.
    const aside = await putAside(world, path, before.text);
    world.err.write(`None of the stored keys is published by ${client.baseUrl}; they are in ${aside} now.\n`);
    await putPricesAside(world);
    await forgetWitnesses(world);
  }
  const isUnchanged = isSameGateway && isDeepStrictEqual(sorted(before.keys), sorted(published));
  const { keys, changes, contradictions, states } =
    isSameGateway && !isUnchanged
      ? await keysTogether(before.keys, published, await declaredKeys(client, world.signal))
      : { keys: isUnchanged ? before.keys : published, changes: [], contradictions: [], states: [] };
  for (const state of states) await client.receipts.remember(state, { signal: world.signal });
  for (const change of [...changes, ...contradictions]) world.err.write(plainText(`${change}\n`));
  if (contradictions.length > 0) world.err.write('That contradicts the stored keys, and was not stored.\n');
  await world.writeFile(path, `${JSON.stringify({ keys }, null, 2)}\n`, { isPrivate: true });
  return { said: `Stored ${keys.length} keys of ${client.baseUrl} in ${path}.`, isContradicted: contradictions.length > 0 };
}

const sorted = (keys: VaasKeySet['keys']): VaasKeySet['keys'] => [...keys].sort((a, b) => (a.kid < b.kid ? -1 : 1));

/** The pages of what the log says of keys: each is proven against its own state. */
async function declaredKeys(client: Tallygate, signal: AbortSignal): Promise<unknown[]> {
  const pages: unknown[] = [];
  for (const kind of ['key', 'key_retired'] as const)
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const read = await client.receipts.declarations({ kind, ...(cursor !== undefined && { cursor }) }, { signal });
      pages.push(read);
      cursor = read.next_cursor;
    }
  return pages;
}

async function putAside(world: CommandWorld, path: string, text: string): Promise<string> {
  const aside = path.replace(/json$/, `${world.now().getTime()}.json`);
  await world.writeFile(aside, text, { isPrivate: true });
  return aside;
}

/** Prices belong to the gateway whose keys were stored with them: another gateway at the same address has published none of them. */
async function putPricesAside(world: CommandWorld): Promise<void> {
  const path = keptPricesPath(world, world.profile);
  const text = await world.readFile(path);
  if (text === undefined) return;
  const aside = await putAside(world, path, text);
  await world.writeFile(path, `${JSON.stringify({ prices: {} }, null, 2)}\n`, { isPrivate: true });
  world.err.write(`The prices stored with them are in ${aside}.\n`);
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
 * Stores the gateway's published prices for the profile, so that receipts are compared with them. Stored prices stay, even if the
 * gateway changes them later: receipts of their time name them.
 *
 * A problem is a note on stderr and no failure: receipts verify without prices, with a note.
 *
 * @throws DeclarationsContradictedError where the log leaves out a price that it has declared
 * @throws LogForkError where the log has shown two pasts
 */
export async function keepPrices(world: CommandWorld): Promise<Pick<Kept, 'isContradicted'>> {
  try {
    const client = await world.connect('none');
    const published = publishedPrices(await client.models.prices({ signal: world.signal }));
    const path = keptPricesPath(world, world.profile);
    const { prices: kept, at } = await keptBefore(world, path, client.baseUrl);
    const unlisted = await unlistedPrices(world, kept, published);
    const changed = rewritten(kept, published);
    const backdated = datedBack(kept, published, at);
    for (const name of changed.slice(0, MOST_NAMED))
      world.err.write(plainText(`The gateway has changed the price of ${name} after the fact; the one in ${path} stays.\n`));
    if (changed.length > MOST_NAMED) world.err.write(`The same holds for ${changed.length - MOST_NAMED} more.\n`);
    for (const name of backdated.slice(0, MOST_NAMED))
      world.err.write(plainText(`The gateway has dated the price of ${name} back: it was not published when prices were last stored.\n`));
    for (const name of unlisted.slice(0, MOST_NAMED))
      world.err.write(plainText(`The log’s list of prices leaves out the entry of ${name}.\n`));
    const taken = without(published, [...backdated, ...unlisted]);
    const content = { base_url: client.baseUrl, kept_at: world.now().toISOString(), prices: firstPublished(kept, taken) };
    await world.writeFile(path, `${JSON.stringify(content, null, 2)}\n`, { isPrivate: true });
    return { isContradicted: changed.length + backdated.length + unlisted.length > 0 };
  } catch (error) {
    const { message, code, exit_code: exitCode } = await reportOf(error);
    if (code === 'declarations_contradicted' || exitCode === EXIT.logForked) throw error;
    world.err.write(plainText(`The published prices could not be stored (${message}); \`tallygate receipts keys\` fetches them later.\n`));
    return { isContradicted: false };
  }
}

/**
 * Stores the published prices again if the receipt's price is not among the stored ones: it was set after the login. Where none are stored, or
 * those of another gateway, nothing changes.
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
  /** RFC 3339; undefined where nothing was stored. */
  readonly at: string | undefined;
}

/** How far the clocks of this computer and the gateway may be apart. */
const CLOCKS_APART_MS = 300_000;

/** Versions that were not published when prices were last stored, but are dated before that. */
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

/** Published prices whose entries are not in the log’s list of prices: it ends before them. */
async function unlistedPrices(world: CommandWorld, kept: PublishedPrices, published: PublishedPrices): Promise<string[]> {
  const keys = await world.readFile(keySetPath(world, world.profile));
  const named = Object.entries(published).flatMap(([model, versions]) =>
    Object.entries(versions).flatMap(([version, { entry }]) => (entry ? [{ model, version, digest: entry.digest }] : [])),
  );
  if (keys === undefined || named.length === 0) return [];
  const { receipts } = await world.connect('none');
  const { declarationDigest, toHex } = await import('@tallygate/receipts');
  const missing = async (whole: boolean): Promise<typeof named> => {
    const { price } = await receipts.declarationsSeen(['price'], JSON.parse(keys), { signal: world.signal, whole });
    const declared = price.flatMap(({ data }) => data.map(({ declaration }) => declaration));
    const listed = new Set(declared.map((declaration) => toHex(declarationDigest(declaration))));
    const left = named.filter(({ digest }) => !listed.has(digest));
    // Of pages that were seen and not read again, the prices are stored: where they are not any more, all of it is read.
    const isPart = !whole && (declared[0]?.number ?? 1) > 1;
    return isPart && left.some(isNew) ? missing(true) : left.filter((one) => !isPart || isNew(one));
  };
  const isNew = ({ model, version, digest }: (typeof named)[number]) => priceIn(kept, model, version)?.entry?.digest !== digest;
  return (await missing(false)).map(({ model, version }) => `${model} in version ${version}`);
}

const rewritten = (kept: PublishedPrices, published: PublishedPrices): string[] =>
  Object.entries(published).flatMap(([model, versions]) =>
    Object.entries(versions).flatMap(([version, price]) => {
      const before = priceIn(kept, model, version);
      return before === undefined || isDeepStrictEqual({ ...price, ...before }, { ...before, ...price })
        ? []
        : [`${model} in version ${version}`];
    }),
  );
