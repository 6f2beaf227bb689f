import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { supervise } from './supervisor.ts';

class Program extends EventEmitter {
  readonly told: string[] = [];
  connected = false;
  kill(signal: string): void {
    this.told.push(signal);
  }
}

/** A supervisor of programs that do as the test says. */
function open() {
  const lives: Program[] = [];
  const waits: { ms: number; over(): void }[] = [];
  const signals = new EventEmitter();
  let nowMs = 0;
  const exitCode = supervise({
    launch: () => {
      const program = new Program();
      lives.push(program);
      // biome-ignore lint/suspicious/noExplicitAny: of a child process the supervisor uses no more
      return program as any;
    },
    signals,
    wait: (ms: number) => new Promise<void>((over) => waits.push({ ms, over })),
    now: () => nowMs,
    say: () => {},
  });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    lives,
    waits,
    signals,
    exitCode,
    settled,
    /** The newest program serves for so long, and ends. */
    async life(servesMs: number | undefined, code: number | null, signal: string | null = null) {
      const program = lives.at(-1);
      if (servesMs !== undefined) program?.emit('message', 'listening');
      nowMs += servesMs ?? 0;
      program?.emit('exit', code, signal);
      await settled();
    },
    async waited() {
      waits.at(-1)?.over();
      await settled();
    },
  };
}

describe('a gateway that dies', () => {
  test.each([
    ['by SIGKILL', null, 'SIGKILL'],
    ['without memory', null, 'SIGABRT'],
    ['by a defect', 1, null],
  ])('%s is started again', async (_how, code, signal) => {
    const { lives, life, waited, signals, exitCode } = open();
    await life(1_000, code, signal);
    await waited();
    expect(lives).toHaveLength(2);
    signals.emit('SIGTERM');
    await life(1_000, 0);
    expect(await exitCode).toBe(0);
  });

  test('at once after it served is started again, though what it sent is read after its end', async () => {
    const { lives, life, waited, settled } = open();
    const program = lives[0];
    if (program === undefined) throw new Error('Nothing was launched');
    program.connected = true;
    await life(undefined, null, 'SIGKILL');
    program.emit('message', 'listening');
    program.emit('disconnect');
    await settled();
    await waited();
    expect(lives).toHaveLength(2);
  });

  test('again and again is started ever later, and soon again once it has served for a minute', async () => {
    const { waits, life, waited } = open();
    for (const [servesMs, code] of [
      [1, 1],
      [1, 1],
      [undefined, 1],
      [1, 1],
      [1, 1],
      [1, 1],
      [1, 1],
      [1, 1],
      [60_000, 1],
      [1, 1],
    ] as const) {
      await life(servesMs, code);
      await waited();
    }
    expect(waits.map(({ ms }) => ms)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 500, 1_000]);
  });
});

test('a gateway that has reloaded its files is restarted when it dies later', async () => {
  const { lives, life, waited, signals } = open();
  lives[0]?.emit('message', 'listening');
  signals.emit('SIGHUP');
  expect(lives[0]?.told).toEqual(['SIGHUP']);
  await life(1_000, null, 'SIGKILL');
  // No process runs that could get the signal.
  signals.emit('SIGHUP');
  await waited();
  expect(lives.map(({ told }) => told)).toEqual([['SIGHUP'], []]);
});

describe('a gateway stays ended', () => {
  test.each([
    ['that ended by itself', 1, 0, 0],
    ['whose settings are wrong', undefined, 78, 78],
    ['whose settings have become wrong', 1, 78, 78],
    ['that never came up', undefined, 1, 1],
  ])('%s', async (_what, servesMs, code, expected) => {
    const { lives, life, exitCode } = open();
    await life(servesMs, code);
    expect([await exitCode, lives.length]).toEqual([expected, 1]);
  });

  test.each(['SIGINT', 'SIGTERM'])('that was stopped by %s, with any exit code', async (signal) => {
    const { lives, life, signals, exitCode } = open();
    lives[0]?.emit('message', 'listening');
    signals.emit(signal);
    expect(lives[0]?.told).toEqual([signal]);
    await life(1, null, 'SIGKILL');
    expect([await exitCode, lives.length]).toEqual([137, 1]);
  });

  test('when the supervisor is stopped while it waits', async () => {
    const { lives, life, signals, settled, exitCode } = open();
    await life(1, 1);
    signals.emit('SIGTERM');
    await settled();
    expect([await exitCode, lives.length]).toEqual([1, 1]);
  });
});
