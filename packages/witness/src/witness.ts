import { type KeyObject, sign } from 'node:crypto';
import {
  type Checkpoint,
  cosignatureLine,
  cosignedText,
  emptyRoot,
  isConsistent,
  type NoteKey,
  parseCheckpoint,
  parseNote,
  signersOf,
} from '@tallygate/receipts';
import type { KeptStates } from './kept-states.ts';

interface WitnessDeps {
  /** Its own key; cosigns and nothing else. */
  readonly key: NoteKey;
  readonly privateKey: KeyObject;
  /** Of the logs that it looks after; a log is known by the name of its key. */
  readonly logs: readonly NoteKey[];
  readonly states: KeptStates;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What `add-checkpoint` answers (c2sp.org/tlog-witness). */
export interface Answer {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422;
  readonly contentType?: string;
  readonly body: string;
}

const OLD = /^old (0|[1-9]\d{0,15})$/;
const MOST_HASHES = 63;
const HASH = /^[A-Za-z0-9+/]{43}=$/;

/** Cosigns states of logs that it has seen grow out of those it cosigned before, and never two that contradict each other. */
export class Witness {
  readonly #deps: WitnessDeps;

  constructor(deps: WitnessDeps) {
    this.#deps = deps;
  }

  /**
   * Looks, writes down and signs without letting go of the thread in between: two requests can never both be measured against the same old
   * state. What is signed is on the disk first.
   */
  addCheckpoint(body: string): Answer {
    const request = requestOf(body);
    if (!request) return refused(400, 'This is no add-checkpoint request.');
    const { oldSize, path, note, checkpoint } = request;
    const { logs, states } = this.#deps;
    const keys = logs.filter(({ name }) => name === checkpoint.origin);
    if (keys.length === 0) return refused(404, 'This log is not known here.');
    if (!signersOf(note, keys)?.length) return refused(403, 'No known key of the log has signed this.');
    if (oldSize > checkpoint.size) return refused(400, 'The old size is above that of the checkpoint.');

    const kept = states.read(checkpoint.origin) ?? { origin: checkpoint.origin, size: 0, root: emptyRoot() };
    if (oldSize !== kept.size) return { status: 409, contentType: 'text/x.tlog.size', body: `${kept.size}\n` };
    if (oldSize === checkpoint.size && !Buffer.from(kept.root).equals(checkpoint.root))
      return { status: 409, contentType: 'text/x.tlog.size', body: `${kept.size}\n` };
    const claim = { oldSize, oldRoot: kept.root, newSize: checkpoint.size, newRoot: checkpoint.root, path };
    if (!isConsistent(claim)) return refused(422, 'The path does not lead from the old state to the new one.');

    states.write(checkpoint.origin, note.text);
    return { status: 200, contentType: 'text/plain; charset=utf-8', body: this.#cosigned(note.text) };
  }

  #cosigned(text: string): string {
    const { key, privateKey, now } = this.#deps;
    const time = BigInt(Math.floor(now() / 1000));
    return cosignatureLine(key, time, sign(null, Buffer.from(cosignedText(text, time)), privateKey));
  }
}

interface AddCheckpoint {
  readonly oldSize: number;
  readonly path: readonly Uint8Array[];
  readonly note: NonNullable<ReturnType<typeof parseNote>>;
  readonly checkpoint: Checkpoint;
}

function requestOf(body: string): AddCheckpoint | undefined {
  const at = body.indexOf('\n\n');
  if (at < 0) return undefined;
  const [oldLine = '', ...hashes] = body.slice(0, at).split('\n');
  const [, oldSize] = OLD.exec(oldLine) ?? [];
  const note = parseNote(body.slice(at + 2));
  const checkpoint = note && parseCheckpoint(note.text);
  if (oldSize === undefined || !checkpoint || hashes.length > MOST_HASHES || !hashes.every((line) => HASH.test(line))) return undefined;
  return { oldSize: Number(oldSize), path: hashes.map((line) => Buffer.from(line, 'base64')), note, checkpoint };
}

const refused = (status: Answer['status'], why: string): Answer => ({ status, contentType: 'text/plain; charset=utf-8', body: `${why}\n` });
