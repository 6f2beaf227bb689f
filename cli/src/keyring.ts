/** Where the computer keeps secrets for its user. Nothing here throws: where it does not work, a file does. */
export interface Keyring {
  /** As people know it. */
  readonly name: string;
  /** @returns whether it is stored there now */
  write(entry: string, secret: string): Promise<boolean>;
  /** `undefined` where there is no such entry, or the keyring is not unlocked. */
  read(entry: string): Promise<string | undefined>;
  remove(entry: string): Promise<void>;
}

/** Somebody may have to type the password that unlocks it. */
const PATIENCE_MS = 60_000;
const SERVICE = 'tallygate';

interface Outcome {
  readonly isDone: boolean;
  readonly stdout: string;
}

/** The secret goes through a pipe: arguments are seen by every user of the computer. */
async function run(command: string, args: readonly string[], stdin = ''): Promise<Outcome> {
  const [{ spawn }, { text }] = await Promise.all([import('node:child_process'), import('node:stream/consumers')]);
  // Not `timeout`: its timer outlives a tool that is not there, and keeps this program from ending for as long.
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], signal: AbortSignal.timeout(PATIENCE_MS) });
  const isDone = new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
  // A tool that is not there, or reads nothing, closes the pipe.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const stdout = await text(child.stdout).catch(() => '');
  return { isDone: await isDone, stdout };
}

/** `secret-tool` of libsecret, which speaks to GNOME Keyring, KWallet and KeePassXC. */
const secretService: Keyring = {
  name: 'the keyring of the desktop (secret-tool)',
  async write(entry, secret) {
    const { isDone } = await run('secret-tool', ['store', '--label=Tallygate', 'service', SERVICE, 'entry', entry], secret);
    return isDone;
  },
  async read(entry) {
    const { isDone, stdout } = await run('secret-tool', ['lookup', 'service', SERVICE, 'entry', entry]);
    return isDone && stdout !== '' ? stdout.trimEnd() : undefined;
  },
  async remove(entry) {
    await run('secret-tool', ['clear', 'service', SERVICE, 'entry', entry]);
  },
};

const keychain: Keyring = {
  name: 'the macOS keychain',
  async write(entry, secret) {
    // Session tokens and ids are letters, digits, `-` and `_`: nothing that `security -i` would read as more than a word.
    const { isDone } = await run('security', ['-i'], `add-generic-password -U -s ${SERVICE} -a ${entry} -w ${secret}\n`);
    return isDone && (await keychain.read(entry)) === secret;
  },
  async read(entry) {
    const { isDone, stdout } = await run('security', ['find-generic-password', '-s', SERVICE, '-a', entry, '-w']);
    return isDone ? stdout.trimEnd() : undefined;
  },
  async remove(entry) {
    await run('security', ['delete-generic-password', '-s', SERVICE, '-a', entry]);
  },
};

/** That of the platform; undefined where the file is all there is. */
export function platformKeyring(platform: NodeJS.Platform): Keyring | undefined {
  if (platform === 'darwin') return keychain;
  return platform === 'win32' ? undefined : secretService;
}
