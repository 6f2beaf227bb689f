import { spawn } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  checkpointText,
  cosignatureLine,
  cosignedText,
  keyThumbprint,
  leafHash,
  type NoteKey,
  nodeHash,
  parseNote,
  signatureLine,
  toVerifierKey,
} from '@tallygate/receipts';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
  terminal.files.set('/config/tallygate/default.vaas-keys.json', JSON.stringify(keySet));
});
afterEach(() => gateway[Symbol.asyncDispose]());

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const { x = '' } = publicKey.export({ format: 'jwk' });
const noteKey = (name: string, kind: NoteKey['kind'] = 'signature'): NoteKey => ({ name, kind, publicKey: Buffer.from(x, 'base64url') });
const logKey = (name = 'log.example') => ({
  ...{ kty: 'OKP', crv: 'Ed25519', x, kid: keyThumbprint(x), use: 'sig', alg: 'EdDSA', purpose: 'checkpoint' },
  verifier_key: toVerifierKey(noteKey(name)),
  ...{ not_before: '2026-01-01T00:00:00.000Z', not_after: null },
});
const keySet = { keys: [logKey()] };

const leaves = ['a', 'b', 'c'].map((entry) => leafHash(Buffer.from(entry)));
const [a, b, c] = leaves as [Uint8Array, Uint8Array, Uint8Array];
const ROOTS = [a, nodeHash(a, b), nodeHash(nodeHash(a, b), c)];

function note(size: number, root = ROOTS[size - 1] ?? a, origin = 'log.example'): string {
  const text = checkpointText({ origin, size, root });
  return `${text}\n${signatureLine(noteKey(origin), sign(null, Buffer.from(text), privateKey))}`;
}

/** Answers as bytes: hashes are no text. */
const tileOf = (hashes: readonly Uint8Array[]) => ({ pieces: [...hashes], end: true }) as const;

describe('log checkpoint', () => {
  it('shows the newest state, its signature verified with the stored keys', async () => {
    gateway.script({ text: note(2) });
    const { stdout, exitCode } = await terminal.type(['log', 'checkpoint'], { isTty: true });
    expect(stdout.split('\n')).toEqual([
      'Log        log.example',
      'Entries    2',
      `Root       ${Buffer.from(nodeHash(a, b)).toString('hex')}`,
      'Signed by  log.example',
      '',
    ]);
    expect(exitCode).toBe(0);
  });

  it('exits with 3 where no stored key has signed it', async () => {
    gateway.script({ text: note(2, ROOTS[1], 'another.example') });
    expect(await terminal.type(['log', 'checkpoint'], {})).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('No known key of "another.example" has signed'),
    });
  });
});

describe('log audit', () => {
  it('exits with 3 where the log is not in order, although its output is not read', async () => {
    const home = await mkdtemp(join(tmpdir(), 'tallygate-cli-'));
    await mkdir(join(home, 'tallygate'));
    await writeFile(join(home, 'tallygate/default.vaas-keys.json'), JSON.stringify(keySet));
    gateway.script({ text: note(2, a) }, tileOf([a, b]));
    const child = spawn(process.execPath, ['--conditions=tallygate-source', 'src/main.ts', 'log', 'audit'], {
      cwd: fileURLToPath(new URL('../../', import.meta.url)),
      env: { XDG_CONFIG_HOME: home, TALLYGATE_BASE_URL: gateway.baseUrl, TALLYGATE_KEYRING: 'off' },
    });
    child.stdout.destroy();
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(3);
    await rm(home, { recursive: true });
  });

  const audit = (...more: string[]) => terminal.type(['log', 'audit', ...more], {});

  it('works the root out again from the hashes, and from then on only what is new', async () => {
    gateway.script({ text: note(1) }, tileOf([a]), tileOf([a]));
    expect(await audit()).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^in order: 1 entries in log\.example, from the first/),
    });
    expect(terminal.file('default.log-checkpoint')).toBe(note(1));
    gateway.script({ text: note(3) }, { text: note(3) }, tileOf(leaves), tileOf(leaves), tileOf(leaves), tileOf(leaves));
    expect(await audit()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('3 entries in log.example, 2 new entries since') });
    expect(gateway.requests.at(-1)?.path).toBe('/v1/log/tile/0/000.p/3');
  });

  it('shows which of the named witnesses have cosigned, and exits with 3 where too few have', async () => {
    const witness = noteKey('witness.example', 'cosignature');
    const { text } = parseNote(note(1)) ?? { text: '' };
    const time = 1_795_248_005n;
    const cosigned = `${note(1)}${cosignatureLine(witness, time, sign(null, Buffer.from(cosignedText(text, time)), privateKey))}`;
    gateway.script({ text: cosigned }, tileOf([a]), tileOf([a]));
    expect((await audit('--witness', toVerifierKey(witness))).stdout).toMatch(/^in order: .+\ncosigned by witness\.example\n$/);
    expect(gateway.requests[0]).toMatchObject({ path: '/v1/log/checkpoint', query: { witnesses: '1' } });
    gateway.script({ text: note(3) });
    expect(await audit('--witness', toVerifierKey(witness))).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('0 of the named'),
    });
  });

  it('exits with 7 and stores the evidence where the log does not begin with the stored state', async () => {
    terminal.files.set('/config/tallygate/default.log-checkpoint', note(1, c));
    gateway.script({ text: note(3) }, { text: note(3) }, tileOf(leaves));
    const { exitCode, stderr } = await audit();
    expect(exitCode).toBe(7);
    expect(stderr).toContain('has shown a state of 3 entries that does not begin with the state of 1 entries that it had shown');
    expect(terminal.file('default.log-checkpoint')).toBe(note(1, c));
    expect(terminal.logs.evidence.size).toBe(1);
  });

  it('exits with 3 where the log has become shorter, or is another', async () => {
    terminal.files.set('/config/tallygate/default.log-checkpoint', note(3));
    gateway.script({ text: note(1) }, { text: note(1) }, tileOf(leaves));
    expect(await audit()).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('fewer entries') });
    terminal.files.set('/config/tallygate/default.log-checkpoint', note(3, ROOTS[2], 'another.example'));
    gateway.script({ text: note(3) });
    expect(await audit()).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('the one that was kept is another.example') });
  });
});
