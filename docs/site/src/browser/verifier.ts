import {
  DeclarationsContradictedError,
  KeysContradictedError,
  LogForkError,
  parseWitnessPolicy,
  rememberDeclarations,
  rememberKeys,
  requireDeclaredWitnesses,
  type VaasKeySet,
  type VerifyOptions,
  verifyReceiptText,
  WitnessesUndeclaredError,
  type WitnessPolicy,
  webLogStore,
} from '../../../../packages/receipts/src/index.ts';
import vector from '../../../../packages/receipts/vectors/good/logged.json' with { type: 'json' };
import billVector from '../../../../packages/receipts/vectors/invoices/quota-and-balance.json' with { type: 'json' };
import keysOfExample from '../../../../packages/receipts/vectors/keys.json' with { type: 'json' };
import { verdictOnMonth } from './bill.ts';
import { compared, forkOfMonth, historyOf } from './history.ts';
import { forkOf, notice, verdictOf } from './verdict.ts';

const EXAMPLE = JSON.stringify(vector.receipt, null, 2);
/** Somebody would like to have paid less. */
const ALTERED = EXAMPLE.replace(`"cost_nano_usd": "${vector.receipt.payload.cost_nano_usd}"`, '"cost_nano_usd": "1000"');

/** An invoice, and the export of the month that it counts. */
const BILL = [JSON.stringify(billVector.invoice, null, 2), ...billVector.exports.map((lines) => lines.join('\n'))];

/** Files that were opened together; what is written into the field comes before them. */
let opened: { readonly shown: string; readonly texts: readonly string[] } = { shown: '', texts: [] };

const field = (id: string) => document.querySelector<HTMLTextAreaElement>(`#${id}`);
const [receipt, keys] = [field('receipt'), field('keys')];
const verdict = document.querySelector('#verdict');

function show(...texts: readonly string[]): void {
  const [only = ''] = texts;
  const shown = texts.length === 1 ? only : `${texts.length} files`;
  opened = { shown, texts };
  if (receipt) receipt.value = shown;
  void check();
}

async function check(): Promise<void> {
  const text = receipt?.value.trim() ?? '';
  if (text === '') {
    receipt?.focus();
    verdict?.replaceChildren(notice('Paste a receipt first', 'A receipt is what GET /v1/receipts/{id} answers. Or try the example.'));
    return;
  }
  const texts = text === opened.shown.trim() ? opened.texts : [text];
  // What was said of the receipt before must not be shown beside this one while it is checked: an export takes seconds.
  verdict?.replaceChildren(notice('Checking', ''));
  await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  try {
    // By its very text: anybody can sign with the keys of the example.
    const isExample = texts.every((one) => [EXAMPLE, ALTERED, ...BILL].includes(one));
    const own = keys?.value.trim() ?? '';
    const set: unknown = isExample ? keysOfExample : own === '' ? await keysSeen() : JSON.parse(own);
    // A reader who pastes the keys verifies without a request.
    const witnesses = isExample || own !== '' ? undefined : await listedWitnesses(set);
    const note = isExample ? 'An example, signed with a key that is published for trying things out.' : '';
    verdict?.replaceChildren(await outcomeOf(texts, { set, note, isExample, demands: witnesses ? { witnesses } : {} }));
  } catch (error) {
    verdict?.replaceChildren(
      error instanceof LogForkError ? forkOf(error) : notice(titleOf(error), error instanceof Error ? error.message : String(error)),
    );
  }
}

interface Given {
  readonly set: unknown;
  readonly note: string;
  /** The example is in a separate log, which nobody watches. */
  readonly isExample: boolean;
  readonly demands: VerifyOptions;
}

/** Before anything is called valid: the states of the log that the files are against, and those that this browser has seen. */
async function outcomeOf(texts: readonly string[], { set, note, isExample, demands }: Given): Promise<HTMLElement> {
  const fork = isExample ? undefined : await forkOfMonth(texts, set);
  if (fork) return forkOf(fork);
  const month = await verdictOnMonth(texts, set, note);
  if (month) return month;
  const found = verifyReceiptText(texts[0] ?? '', set, demands);
  const history = found.valid && !isExample ? await historyOf(found) : undefined;
  return history instanceof LogForkError ? forkOf(history) : verdictOf(found, note, history);
}

function titleOf(error: unknown): string {
  if (error instanceof DeclarationsContradictedError) return 'The log leaves out what it has declared, or contradicts it';
  if (error instanceof WitnessesUndeclaredError) return 'You are shown other witnesses than the log declares';
  return error instanceof KeysContradictedError
    ? 'The keys contradict those that this browser has seen here'
    : 'The keys could not be read';
}

/**
 * Whose cosignatures the gateway says that there have to be.
 * @throws WitnessesUndeclaredError where its log says something else
 * @throws DeclarationsContradictedError where its list of keys and policies leaves one out
 */
async function listedWitnesses(set: unknown): Promise<WitnessPolicy | undefined> {
  const { log } = JSON.parse(await published('/.well-known/agent.json'));
  const listed = typeof log?.witness_policy === 'string' ? log.witness_policy : null;
  const { keys: trusted } = set as VaasKeySet;
  const trust = { keys: trusted, store: webLogStore(localStorage), listed: declared, remember };
  const { policy } = await rememberDeclarations(location.origin, ['policy', 'key', 'key_retired'], trust);
  requireDeclaredWitnesses(listed, policy, { keys: trusted });
  return listed === null ? undefined : parseWitnessPolicy(listed);
}

/** The published keys, together with those that this browser has seen. @throws KeysContradictedError */
async function keysSeen(): Promise<unknown> {
  const set: VaasKeySet = JSON.parse(await published('/.well-known/vaas-keys.json'));
  const store = webLogStore(localStorage);
  const all = async () => [...(await declared('key')), ...(await declared('key_retired'))];
  return { ...set, keys: await rememberKeys(location.origin, set.keys, { store, declared: all, remember }) };
}

/** A state of the log that proves a declaration. @throws LogForkError */
async function remember(note: string): Promise<void> {
  const found = await compared(note);
  if (found instanceof LogForkError) throw found;
}

async function declared(kind: string, from = ''): Promise<unknown[]> {
  const pages: unknown[] = [];
  for (let cursor: string | null = from; cursor !== null; ) {
    const page = JSON.parse(
      await published(`/v1/log/declarations?kind=${kind}&limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`),
    );
    pages.push(page);
    cursor = typeof page.next_cursor === 'string' ? page.next_cursor : null;
  }
  return pages;
}

async function published(path: string): Promise<string> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`This address answers ${answer.status}; paste the key set under “Keys of your own”.`);
  return answer.text();
}

async function open(files: FileList | null | undefined): Promise<void> {
  if (files && files.length > 0) show(...(await Promise.all(Array.from(files, (file) => file.text()))));
}

const on = (id: string, act: () => void) => document.querySelector(`#${id}`)?.addEventListener('click', act);
on('check', () => void check());
on('example', () => show(EXAMPLE));
on('altered', () => show(ALTERED));
on('bill', () => show(...BILL));
const input = document.querySelector<HTMLInputElement>('#receipt-file');
input?.addEventListener('change', () => void open(input.files));
receipt?.addEventListener('dragover', (event) => event.preventDefault());
receipt?.addEventListener('drop', (event) => {
  if (!event.dataTransfer?.files.length) return;
  event.preventDefault();
  void open(event.dataTransfer.files);
});
