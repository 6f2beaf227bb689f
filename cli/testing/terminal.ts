import { memoryLogStore } from '@tallygate/receipts';
import type { StubGateway } from '@tallygate/sdk/testing/stub-gateway';
import type { Keyring } from '../src/keyring.ts';
import { run } from '../src/program.ts';
import type { World } from '../src/world.ts';

/** What a test says about the computer that the command line is typed into. */
interface Circumstances {
  /** People look at stdout and sit at stdin; otherwise both are pipes. */
  readonly isTty?: boolean;
  readonly stdin?: string;
  /** Answers to questions, in order. */
  readonly typed?: readonly string[];
  readonly apiKey?: string;
  readonly sessionToken?: string;
  readonly baseUrl?: string | undefined;
  readonly hasColor?: boolean;
  /** Width of the terminal, characters. */
  readonly columns?: number;
  /** Further environment variables. */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface Session {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

const NOW = new Date('2026-11-21T08:00:00.000Z');
const CONFIG_DIRECTORY = '/config/tallygate';

/** A terminal of one person: files stay between command lines, everything else is said anew. */
export class Terminal {
  readonly files = new Map<string, string>();
  /** Files that others may read although they should not. */
  readonly exposedFiles = new Set<string>();
  readonly privateFiles = new Set<string>();
  /** What was seen of logs. */
  logs = memoryLogStore();
  /** What the computer's keyring holds; undefined: it has none. */
  keyring: Map<string, string> | undefined;
  /** In the person's browser. */
  readonly openedPages: string[] = [];
  readonly #gateway: Pick<StubGateway, 'baseUrl'>;
  readonly #now: () => Date;

  constructor(gateway: Pick<StubGateway, 'baseUrl'>, now = () => NOW) {
    this.#gateway = gateway;
    this.#now = now;
  }

  file(name: string): string | undefined {
    return this.files.get(`${CONFIG_DIRECTORY}/${name}`);
  }

  /** Types a command line with an API key in the environment, unless the circumstances say otherwise. */
  async type(argv: readonly string[], circumstances: Circumstances = { apiKey: 'tg_test_secret' }): Promise<Session> {
    let stdout = '';
    let stderr = '';
    const { isTty = false, stdin = '', typed = [], hasColor = false, columns, variables = {}, ...env } = circumstances;
    const replies = [...typed];
    const reply = async (question: string) => {
      stderr += question;
      return replies.shift() ?? '';
    };
    const world: World = {
      env: {
        apiKey: env.apiKey,
        sessionToken: env.sessionToken,
        baseUrl: 'baseUrl' in env ? env.baseUrl : this.#gateway.baseUrl,
        profile: variables['TALLYGATE_PROFILE'],
        variable: (name) => variables[name],
        configDirectory: CONFIG_DIRECTORY,
        nodeVersion: '24.0.0',
        hostName: 'ada-laptop',
        hasColor,
      },
      input: { isTty, readAll: async () => stdin, ask: reply, askSecret: reply },
      out: {
        isTty,
        columns,
        write: (text) => {
          stdout += text;
        },
      },
      err: {
        isTty,
        write: (text) => {
          stderr += text;
        },
      },
      signal: new AbortController().signal,
      finishUnread: () => {},
      keyring: this.keyring && keyringOver(this.keyring),
      now: this.#now,
      openPage: async (url) => {
        this.openedPages.push(url);
        return true;
      },
      openLogStore: async () => this.logs,
      readFile: async (path) => this.files.get(path),
      readPrivateFile: async (path) => {
        const content = this.files.get(path);
        return content === undefined ? undefined : { content, wasExposed: this.exposedFiles.delete(path) };
      },
      openFile: async (path) => {
        const content = this.files.get(path);
        return content === undefined ? undefined : new Blob([content]);
      },
      saveBytes: async (path, bytes) => {
        if (path === '/full/a.png') throw new Error('There is no space left.');
        const pieces: Uint8Array[] = [];
        for await (const piece of bytes) pieces.push(piece);
        const content = Buffer.concat(pieces).toString();
        if (path === '-') stdout += content;
        else this.files.set(path, content);
      },
      hindranceAt: async (path) => (path.startsWith('/nowhere/') ? 'there is no folder /nowhere' : undefined),
      writeFile: async (path, content, { isPrivate = false } = {}) => {
        this.files.set(path, content);
        if (isPrivate) this.privateFiles.add(path);
      },
    };
    const exitCode = await run(argv, world);
    return { stdout, stderr, exitCode };
  }
}

const keyringOver = (entries: Map<string, string>): Keyring => ({
  name: 'a keyring',
  write: async (entry, secret) => {
    entries.set(entry, secret);
    return true;
  },
  read: async (entry) => entries.get(entry),
  remove: async (entry) => void entries.delete(entry),
});
