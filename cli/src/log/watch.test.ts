import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LyingLog, startLyingLog } from '../../testing/lying-log.ts';
import { Terminal } from '../../testing/terminal.ts';

let log: LyingLog;
let terminal: Terminal;
beforeEach(async () => {
  log = await startLyingLog();
  terminal = new Terminal(log);
  terminal.files.set('/config/tallygate/default.vaas-keys.json', JSON.stringify(log.keySet));
});
afterEach(() => log[Symbol.asyncDispose]());

const entries = (count: number, word = 'entry') => Array.from({ length: count }, (_, at) => `${word} ${at}`);
const HONEST = entries(300);
/** With another past from the eighth entry on. */
const FORKED = [...entries(7), ...entries(400, 'other')];

const watch = async (...more: string[]) => {
  const session = await terminal.type(['log', 'watch', '--once', '--json', 'all', ...more], {});
  return { ...session, line: JSON.parse(session.stdout) };
};

describe('log watch', () => {
  it('monitors an append-only log, from the stored state on', async () => {
    log.show(HONEST.slice(0, 5));
    expect(await watch()).toMatchObject({ exitCode: 0, line: { status: 'ok', size: 5, new_entries: 5 } });
    log.show(HONEST);
    expect(await watch()).toMatchObject({ exitCode: 0, line: { status: 'ok', size: 300, new_entries: 295, origin: 'log.example/v1/log' } });
    const { stdout } = await terminal.type(['log', 'watch', '--once'], {});
    expect(stdout).toBe('2026-11-21T08:00:00.000Z in order: 300 entries in log.example/v1/log, 0 new\n');
  });

  it.each([{ price: 1 }, { policy: 1 }])(
    'exits with 3 and keeps the list where it leaves out what the log declares: %o',
    async (declared) => {
      log.show(HONEST, { declared });
      const { line, exitCode } = await watch();
      expect({ exitCode, code: line.code, status: line.status }).toEqual({
        exitCode: 3,
        code: 'declarations_contradicted',
        status: 'fault',
      });
      expect([...terminal.logs.evidence.values()].join('')).toContain('declaration_missing');
    },
  );

  it.each([
    ['rewrites an entry', ['another', ...HONEST.slice(1), 'new'], 'log_forked'],
    ['deletes an entry', [...HONEST.slice(1), 'new', 'newer'], 'log_forked'],
    ['inserts an entry', ['inserted', ...HONEST], 'log_forked'],
    ['forks', FORKED, 'log_forked'],
    ['forks at the same size', FORKED.slice(0, 300), 'log_forked'],
    ['rolls back', HONEST.slice(0, 200), 'log_not_consistent'],
    ['rolls back and continues with other entries', [...HONEST.slice(0, 200), ...entries(50, 'other')], 'log_not_consistent'],
  ])('exits with 7 and keeps both states where the log %s', async (_, shown, code) => {
    log.show(HONEST);
    await watch();
    log.show(shown);
    const { line, exitCode } = await watch();
    expect({ exitCode, status: line.status, code: line.code }).toEqual({ exitCode: 7, status: 'fault', code });
    const [[name = '', evidence = ''] = []] = terminal.logs.evidence;
    expect(line.message).toContain(name);
    expect(JSON.parse(evidence)).toMatchObject({ kept: log.note(HONEST), met: log.note(shown) });
    // The evidence does not go away because the log has become honest again.
    log.show([...HONEST, 'new']);
    expect(await watch()).toMatchObject({ exitCode: 0, line: { new_entries: 1 } });
    expect(terminal.logs.evidence.size).toBe(1);
  });

  it('exits with 3 where the log is emptied: of nothing every log is a continuation', async () => {
    log.show(HONEST);
    await watch();
    log.show([]);
    expect(await watch()).toMatchObject({ exitCode: 3, line: { status: 'fault', code: 'shrunk' } });
  });

  it('exits with 7 where the log keeps its tiles back', async () => {
    log.show(HONEST);
    await watch();
    log.show([...HONEST, 'new'], { tileStatus: 404 });
    expect(await watch()).toMatchObject({ exitCode: 7, line: { code: 'log_not_consistent' } });
  });

  it('exits with 3 where an entry is not the one of the tree', async () => {
    log.show(HONEST, { bundles: HONEST.with(270, 'another') });
    expect(await watch()).toMatchObject({ exitCode: 3, line: { status: 'fault', code: 'entries_disagree' } });
  });

  it('exits with 3 where the log keeps back entries that it has signed', async () => {
    log.show(HONEST, { bundles: HONEST.slice(0, 270) });
    expect(await watch()).toMatchObject({ exitCode: 3, line: { status: 'fault', code: 'log_incomplete' } });
  });

  it('exits with 3 where the state is signed by no known key', async () => {
    await using stranger = await startLyingLog();
    log.show(HONEST, { checkpoint: stranger.note(HONEST) });
    expect(await watch()).toMatchObject({ exitCode: 3, line: { status: 'fault', code: 'checkpoint_not_valid' } });
  });

  it('exits with 1 where the log cannot be asked, at once or after its patience', async () => {
    await log.hangUp();
    expect(await watch()).toMatchObject({ exitCode: 1, line: { status: 'away', code: 'connection_failed' } });
    const { exitCode } = await terminal.type(['log', 'watch', '--patience', '0'], {});
    expect(exitCode).toBe(1);
  });

  it('shares the stored state with other commands, also with concurrent ones', async () => {
    const home = await mkdtemp(join(tmpdir(), 'tallygate-watch-'));
    await mkdir(join(home, 'tallygate'));
    await writeFile(join(home, 'tallygate/default.vaas-keys.json'), JSON.stringify(log.keySet));
    const run = async (...argv: string[]) => {
      const child = spawn(process.execPath, ['--conditions=tallygate-source', 'src/main.ts', 'log', ...argv], {
        cwd: fileURLToPath(new URL('../../', import.meta.url)),
        env: { XDG_CONFIG_HOME: home, TALLYGATE_BASE_URL: log.baseUrl, TALLYGATE_KEYRING: 'off' },
      });
      const [code, stderr] = await Promise.all([new Promise((resolve) => child.once('exit', resolve)), text(child.stderr)]);
      return { code, stderr };
    };
    log.show(HONEST);
    expect(await Promise.all([run('checkpoint'), run('watch', '--once')])).toMatchObject([{ code: 0 }, { code: 0 }]);
    log.show(FORKED);
    expect(await run('checkpoint')).toMatchObject({ code: 7 });
    const folder = join(home, 'tallygate/logs');
    const [evidence = ''] = (await readdir(folder)).filter((name) => name.includes('.fork-'));
    expect(JSON.parse(await readFile(join(folder, evidence), 'utf8'))).toMatchObject({ kept: log.note(HONEST), met: log.note(FORKED) });
    await rm(home, { recursive: true });
  });
});
