import {
  checkpointOfExport,
  isInvoice,
  LogAwayError,
  LogForkError,
  type ReadTile,
  type Remembered,
  rememberCheckpoint,
  tilePath,
  type Verified,
  verifyCheckpoint,
  verifyInvoiceText,
  webLogStore,
} from '../../../../packages/receipts/src/index.ts';

const LOG = '/v1/log';
const PATIENCE_MS = 10_000;

/** How the state of the log goes together with those that this browser has seen. Undefined for a receipt that was not shown to be in the log. */
export const historyOf = async ({ logged }: Pick<Verified, 'logged'>): Promise<Remembered | LogForkError | undefined> =>
  logged && compared(logged.checkpoint);

/** The first contradiction between what was seen and the states that exports and invoices are against; undefined where there is none. */
export async function forkOfMonth(texts: readonly string[], keys: unknown): Promise<LogForkError | undefined> {
  for (const text of texts) {
    const invoice = isInvoice(text) ? verifyInvoiceText(text, keys) : undefined;
    const note = invoice?.valid ? invoice.logged?.checkpoint : checkpointOfExport(text);
    // A state that the log did not sign refuses every receipt of the file by itself.
    const found = note !== undefined && verifyCheckpoint(note, keys).valid ? await compared(note) : undefined;
    if (found instanceof LogForkError) return found;
  }
  return undefined;
}

/** A state of the log whose signature holds, with those that this browser has seen. */
export async function compared(note: string): Promise<Remembered | LogForkError> {
  const origin = note.slice(0, note.indexOf('\n'));
  try {
    return await rememberCheckpoint(note, { store: webLogStore(localStorage), readTile: tilesOf(origin) });
  } catch (error) {
    if (error instanceof LogForkError) return error;
    throw error;
  }
}

/** What the browser keeps of a contradiction, as a file. */
export const evidenceOf = ({ evidence }: LogForkError): string => localStorage.getItem(evidence) ?? '';

function tilesOf(origin: string): ReadTile {
  let asked: Promise<string> | undefined;
  return async (tile) => {
    asked ??= read('/checkpoint').then((answer) => answer.text());
    // Tiles of this address say nothing of another gateway's log.
    if (!(await asked).startsWith(`${origin}\n`)) throw new LogAwayError('This address has another log.');
    return new Uint8Array(await (await read(`/${tilePath(tile)}`)).arrayBuffer());
  };
}

async function read(path: string): Promise<Response> {
  const answer = await fetch(`${LOG}${path}`, { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => undefined);
  if (!answer || answer.status === 429 || (answer.status >= 502 && answer.status <= 504))
    throw new LogAwayError('The log cannot be asked.');
  if (answer.ok) return answer;
  throw new Error(`The log answers ${answer.status}.`);
}
