import type { Duplex } from 'node:stream';
import { FrameReader, frameOf } from './process-frames.ts';
import { isStoreFailure, StoreUnavailable } from './store-failure.ts';

/** What one end does for the other, by name. Each may fail, and may take its time. */
export type Operations = Readonly<Record<string, (...input: never[]) => unknown>>;

type Call = readonly [kind: 'call', id: number, name: string, input: readonly unknown[]];
type Answer = readonly [kind: 'answer', id: number, value: unknown];
type Failure = readonly [kind: 'failure', id: number, message: string, isOfStore: boolean];
type Message = Call | Answer | Failure;

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** The process at the other end is gone, or the connection to it. */
class OtherEndGone extends Error {
  override readonly name = 'OtherEndGone';

  constructor() {
    super('Connection is closed: the other process of this gateway has ended');
  }
}

/**
 * Calls in both directions over one stream between two processes of one gateway. What one end asks within a turn of its event loop goes in one
 * piece, and is done at the other end in that order. What was written before a process died is still done; what has no answer by then fails.
 */
export class Calls<Theirs extends Operations> {
  readonly #stream: Duplex;
  readonly #mine = new Map<string, (...input: never[]) => unknown>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #frames = new FrameReader();
  #outgoing: Message[] = [];
  #isReading = false;
  #isEnded = false;
  #lastId = 0;

  /** @param onEnd called once, after everything that had arrived was begun */
  constructor(stream: Duplex, mine: Operations, onEnd: () => void) {
    this.#stream = stream;
    this.offer(mine);
    const end = () => {
      if (this.#isEnded) return;
      this.#isEnded = true;
      for (const waiting of this.#waiting.values()) waiting.reject(new OtherEndGone());
      this.#waiting.clear();
      onEnd();
    };
    stream.on('data', (bytes: Buffer) => this.#read(bytes));
    // A process that is killed resets its connections: `close` follows either way.
    stream.on('error', () => {});
    stream.once('end', end);
    stream.once('close', end);
  }

  /** What is done for the other end from now on, beside what is already. */
  offer(operations: Operations): void {
    for (const [name, operation] of Object.entries(operations)) this.#mine.set(name, operation);
  }

  /** @throws OtherEndGone, and with the message of what failed at the other end: a store that was not reached there is none here either */
  call<Name extends keyof Theirs & string>(name: Name, ...input: Parameters<Theirs[Name]>): Promise<Awaited<ReturnType<Theirs[Name]>>> {
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Theirs[Name]>>>();
    if (this.#isEnded) {
      reject(new OtherEndGone());
      return promise;
    }
    this.#lastId += 1;
    // The other end answers as its operations are declared: both are of one program.
    this.#waiting.set(this.#lastId, { resolve: (value) => resolve(value as Awaited<ReturnType<Theirs[Name]>>), reject });
    this.#send(['call', this.#lastId, name, input]);
    return promise;
  }

  close(): void {
    this.#flush();
    this.#stream.end();
  }

  #read(bytes: Buffer): void {
    this.#isReading = true;
    for (const frame of this.#frames.take(bytes)) for (const message of frame as readonly Message[]) this.#take(message);
    this.#isReading = false;
    // What could be answered at once goes back in one piece, without a turn of the loop in between.
    this.#flush();
  }

  #take(message: Message): void {
    if (message[0] === 'call') {
      this.#do(message);
      return;
    }
    const [kind, id, said] = message;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (kind === 'answer') waiting?.resolve(said);
    else waiting?.reject(message[3] ? new StoreUnavailable(said) : new Error(said));
  }

  #do([, id, name, input]: Call): void {
    const failed = (error: unknown) =>
      this.#send(['failure', id, error instanceof Error ? error.message : String(error), isStoreFailure(error)]);
    try {
      const operation = this.#mine.get(name);
      if (!operation) throw new Error(`There is no operation ${name}`);
      const result = operation(...(input as never[]));
      if (result instanceof Promise) result.then((value: unknown) => this.#send(['answer', id, value]), failed);
      else this.#send(['answer', id, result]);
    } catch (error) {
      failed(error);
    }
  }

  #send(message: Message): void {
    if (this.#isEnded) return;
    this.#outgoing.push(message);
    if (this.#outgoing.length === 1 && !this.#isReading) setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#outgoing.length === 0 || this.#isEnded || !this.#stream.writable) return;
    const messages = this.#outgoing;
    this.#outgoing = [];
    this.#stream.write(frameOf(messages));
  }
}
