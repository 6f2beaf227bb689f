import { isDeepStrictEqual } from 'node:util';
import type { PublishedPrices } from '@tallygate/receipts';
import type { CommandWorld } from '../command.ts';
import { keptPricesPath, keySetPath } from '../credentials.ts';
import { reportOf } from '../failure.ts';
import { plainText } from '../print.ts';
import { firstPublished, priceIn, publishedPrices } from './published-prices.ts';

/** Keeps the gateway's public receipt keys for the profile. Returns a sentence on what was kept. */
export async function keepKeySet(world: CommandWorld): Promise<string> {
  const client = await world.connect('none');
  const keySet = await client.receipts.keys({ signal: world.signal });
  const path = keySetPath(world, world.profile);
  await world.writeFile(path, `${JSON.stringify(keySet, null, 2)}\n`, { isPrivate: true });
  return `Kept ${keySet.keys.length} of ${client.baseUrl} in ${path}.`;
}

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
    for (const name of rewritten(kept, published))
      world.err.write(plainText(`The gateway has changed the price of ${name} after the fact; the one in ${path} stays.\n`));
    const content = { base_url: client.baseUrl, prices: firstPublished(kept, published) };
    await world.writeFile(path, `${JSON.stringify(content, null, 2)}\n`, { isPrivate: true });
  } catch (error) {
    const { message } = await reportOf(error);
    world.err.write(plainText(`The published prices could not be kept (${message}); \`tallygate receipts keys\` fetches them later.\n`));
  }
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
