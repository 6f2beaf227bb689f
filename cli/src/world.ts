import type { LogStore } from '@tallygate/receipts';
import type { Keyring } from './keyring.ts';

export interface Output {
  /** A person is looking; otherwise a pipe or a file. */
  readonly isTty: boolean;
  /** How many characters a line of the terminal holds; undefined in a pipe, or if the terminal does not report it (it reports 0). */
  readonly columns?: number | undefined;
  write(text: string): void;
}

export interface Input {
  readonly isTty: boolean;
  /** Everything until the end. */
  readAll(): Promise<string>;
  /** Asks a person; the question goes to stderr, so that stdout stays clean. */
  ask(question: string): Promise<string>;
  /** The same without showing what is typed. */
  askSecret(question: string): Promise<string>;
}

export interface Environment {
  readonly apiKey: string | undefined;
  readonly sessionToken: string | undefined;
  readonly baseUrl: string | undefined;
  /** Of `TALLYGATE_PROFILE`. */
  readonly profile: string | undefined;
  /** Any other variable, for options that name one. */
  variable(name: string): string | undefined;
  /** Where credentials are stored. */
  readonly configDirectory: string;
  /** Of Node, without the `v`. */
  readonly nodeVersion: string;
  /** Of this computer, for those who approve its login. */
  readonly hostName: string;
  /** False under NO_COLOR (no-color.org) and on dumb terminals. */
  readonly hasColor: boolean;
}

export interface PrivateFile {
  readonly content: string;
  /** Others on this computer could read it until now. */
  readonly wasExposed: boolean;
}

/** Everything outside the program that a command may touch. */
export interface World {
  readonly env: Environment;
  readonly input: Input;
  readonly out: Output;
  readonly err: Output;
  /** Aborts when the person presses Ctrl-C. */
  readonly signal: AbortSignal;
  /**
   * Called by a command whose exit code is its result: it runs to its end even if its output is not read any more. Other commands end
   * then, since the reader has seen enough.
   */
  finishUnread(): void;
  /** Undefined where the computer has none, and with `TALLYGATE_KEYRING=off`. */
  readonly keyring: Keyring | undefined;
  now(): Date;
  /** Opens a page in the person's browser. @returns false where there is none, and for what is no address of a page */
  openPage(url: string): Promise<boolean>;
  /** What was seen of logs of receipts, by all profiles. */
  openLogStore(): Promise<LogStore>;
  /** Resolves to `undefined` when there is no such file. */
  readFile(path: string): Promise<string | undefined>;
  /** A file that only its owner should be able to read. If others could read it, its mode is corrected and `wasExposed` is true. */
  readPrivateFile(path: string): Promise<PrivateFile | undefined>;
  /** A file to be read piece by piece; `undefined` when there is none. */
  openFile(path: string): Promise<Blob | undefined>;
  /** Writes bytes piece by piece: to stdout for `-`, else in place of the file, which is the old one until all is there. */
  saveBytes(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Why no file can be put there, in the middle of a sentence; `undefined` when one can. */
  hindranceAt(path: string): Promise<string | undefined>;
  /** Replaces the file in one step, so that a crash leaves the old one or the new one. `isPrivate`: for the owner's eyes only. */
  writeFile(path: string, content: string, options?: { readonly isPrivate?: boolean }): Promise<void>;
}
