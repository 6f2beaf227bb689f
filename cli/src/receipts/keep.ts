import { isDeepStrictEqual } from 'node:util';
import type { PublishedPrices, ReceiptPayload } from '@tallygate/receipts';
import type { VaasKeySet } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { keptPricesPath, keySetPath } from '../credentials.ts';
import { reportOf } from '../failure.ts';
import { forgetWitnesses } from '../log/witnesses.ts';
import { plainText } from '../print.ts';
import { keysTogether } from './kept-keys.ts';
import { firstPublished, priceIn, publishedPrices } from './published-prices.ts';

/**
 * Keeps the gateway's public receipt keys for the profile, beside those of earlier times, and says on stderr what has changed since. Returns a
 * sentence on what was kept.
 */
export async function keepKeySet(world: CommandWorld): Promise<string> {
  const client = await world.connect('none');
  const published = (await client.receipts.keys({ signal: world.signal })).keys;
  const path = keySetPath(world, world.profile);
  const before = await keysBefore(world, path);
  const isSameGateway = before.keys.some(({ kid }) => published.some((key) => key.kid === kid));
  if (before.text !== undefined && !isSameGateway) {
    // Another gateway, or one that denies all it has published: which of the two, only the reader knows.
    const aside = await putAside(world, path, before.text);
    world.err.write(`None of the keys that were kept is published by ${client.baseUrl}; they are in ${aside} now.\n`);
    await putPricesAside(world);
    await forgetWitnesses(world);
  }
  const { keys, changes } = isSameGateway ? keysTogether(before.keys, published) : { keys: published, changes: [] };
  for (const change of changes) world.err.write(plainText(`${change}\n`));
  await world.writeFile(path, `${JSON.stringify({ keys }, null, 2)}\n`, { isPrivate: true });
  return `Kept ${keys.length} of ${client.baseUrl} in ${path}.`;
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
export async function keepPrices(world: CommandWorld): Promise<void> {
  try {
    const client = await world.connect('none');
    const published = publishedPrices(await client.models.prices({ signal: world.signal }));
    const path = keptPricesPath(world, world.profile);
    const kept = await keptBefore(world, path, client.baseUrl);
    const changed = rewritten(kept, published);
    for (const name of changed.slice(0, MOST_NAMED))
      world.err.write(plainText(`The gateway has changed the price of ${name} after the fact; the one in ${path} stays.\n`));
    if (changed.length > MOST_NAMED) world.err.write(`So it has with ${changed.length - MOST_NAMED} more.\n`);
    const content = { base_url: client.baseUrl, prices: firstPublished(kept, published) };
    await world.writeFile(path, `${JSON.stringify(content, null, 2)}\n`, { isPrivate: true });
  } catch (error) {
    const { message } = await reportOf(error);
    world.err.write(plainText(`The published prices could not be kept (${message}); \`tallygate receipts keys\` fetches them later.\n`));
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
  const kept = await keptBefore(world, keptPricesPath(world, world.profile), baseUrl);
  if (Object.keys(kept).length > 0 && priceIn(kept, model, version) === undefined) await keepPrices(world);
}

/** The prices of this gateway from earlier times. Those of another gateway, or an unreadable file, give way to the new ones. */
async function keptBefore(world: CommandWorld, path: string, baseUrl: string): Promise<PublishedPrices> {
  const text = await world.readFile(path);
  if (text === undefined) return {};
  try {
    const content = JSON.parse(text);
    return content.base_url === baseUrl ? publishedPrices(content) : {};
  } catch {
    return {};
  }
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
