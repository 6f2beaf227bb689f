import { isPlainObject } from '../canonical.ts';
import { fromBase64, fromHex } from '../encoding.ts';
import { checkTerms } from '../prices.ts';
import type { PriceDeclaration, ReceiptPayload } from '../receipt.ts';
import { Refused } from '../refusal.ts';
import { object } from '../shape.ts';
import { hashes } from '../structure.ts';
import { CLOCKS_APART_MS } from '../times.ts';
import { declarationDigest, digestHex, readPriceDeclaration } from './declaration.ts';
import { isIncluded } from './proofs.ts';
import type { LoggedReceipt } from './receipt-log.ts';
import { leafHash } from './tree.ts';

/** Prices whose entries were proven, by state of the log, index and digest: receipts of one file share them. */
export type ProvenPrices = Map<string, PriceDeclaration>;

interface Shown {
  /** As it stands in the receipt, unread. */
  readonly price: unknown;
  /** Where the receipt says that it stands in the log. */
  readonly index: number | undefined;
  /** What the proof of the receipt has shown. */
  readonly logged: LoggedReceipt | undefined;
  readonly proven: ProvenPrices;
}

const loggedPrice = object<{ declaration: PriceDeclaration; inclusion_path: string[] }>({
  declaration: (value, { path }) => readPriceDeclaration(value, path),
  inclusion_path: hashes,
});

/**
 * Checks the receipt against the entry of its price, which stands in the log before it: so no price can be dated back. Undefined where nothing has
 * a price; `unchecked` where the entry is not shown, or nothing is at hand to prove it with.
 *
 * Throws `Refused`.
 */
export function checkPriceEntry(payload: ReceiptPayload, { price, index, logged, proven }: Shown): 'ok' | 'unchecked' | undefined {
  const named = payload.price_entry;
  if (named === null) {
    if (payload.cost_nano_usd === '0') return undefined;
    throw new Refused('price_undeclared', 'payload.price_entry is null, and the receipt is not free: no entry of the log has its price.');
  }
  if (index !== undefined && named.index >= index)
    throw new Refused('price_logged_after', `The price is entry ${named.index} of the log, the receipt ${index}: it was charged before.`);
  const name = `${logged?.root} ${named.index} ${named.digest}`;
  const shown = isPlainObject(price) ? loggedPrice(price, { path: 'receipt.price', code: 'malformed_declaration' }) : undefined;
  const declaration = shown?.declaration ?? proven.get(name);
  if (!declaration) return 'unchecked';
  if (digestHex(declaration) !== named.digest)
    throw new Refused('price_entry_mismatch', 'receipt.price is not the declaration that payload.price_entry names.');
  checkDeclaredFor(payload, declaration);
  if (!logged) return 'unchecked';
  if (shown && !proven.has(name)) checkIncluded(shown, named.index, logged);
  proven.set(name, declaration);
  return 'ok';
}

/** Throws `Refused`. */
function checkDeclaredFor(payload: ReceiptPayload, declaration: PriceDeclaration): void {
  const { model, price_version: version, declared_at: declaredAt, effective_from: from } = declaration;
  if (model !== payload.model_served || version !== payload.price_version)
    throw new Refused('price_entry_mismatch', `The price entry is of ${JSON.stringify(model)} in version ${JSON.stringify(version)}.`);
  const latest = Date.parse(payload.started_at) + CLOCKS_APART_MS;
  for (const [what, time] of Object.entries({ declared: declaredAt, 'in force': from }))
    if (Date.parse(time) > latest)
      throw new Refused('price_not_in_force', `The price is ${what} since ${time}, the request began at ${payload.started_at}.`);
  checkTerms(payload, declaration);
}

function checkIncluded(
  { declaration, inclusion_path: path }: { readonly declaration: PriceDeclaration; readonly inclusion_path: readonly string[] },
  index: number,
  { tree_size: size, root }: LoggedReceipt,
): void {
  const claim = {
    ...{ index, size, leafHash: leafHash(declarationDigest(declaration)) },
    root: fromHex(root) ?? new Uint8Array(),
    path: path.map((hash) => fromBase64(hash) ?? new Uint8Array()),
  };
  if (!isIncluded(claim))
    throw new Refused(
      'price_not_in_log',
      `receipt.price.inclusion_path does not lead from the price as entry ${index} to the checkpoint's root.`,
    );
}
