import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileLogStore } from './node.ts';

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'tallygate-logs-')), 'logs');
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

const ORIGIN = 'gateway.example/v1/log';

describe('a store in a folder', () => {
  it('replaces only what was read, and keeps logs apart', async () => {
    const store = fileLogStore(folder);
    expect(await store.read(ORIGIN)).toBeUndefined();
    expect(await store.replace(ORIGIN, undefined, 'one')).toBe(true);
    expect(await store.replace(ORIGIN, undefined, 'another')).toBe(false);
    expect(await store.replace(ORIGIN, 'one', 'two')).toBe(true);
    expect(await store.replace(ORIGIN, 'one', 'three')).toBe(false);
    expect(await store.read(ORIGIN)).toBe('two');
    expect(await store.read('gateway.example/v1_log')).toBeUndefined();
  });

  it('keeps evidence in a file for its owner alone, the same evidence once', async () => {
    const store = fileLogStore(folder);
    const path = await store.keepEvidence(ORIGIN, '{}\n');
    expect(await store.keepEvidence(ORIGIN, '{}\n')).toBe(path);
    expect(await readFile(path, 'utf8')).toBe('{}\n');
    if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('loses nothing to processes that write at the same time', async () => {
    const program = (writer: number) => `
      const { fileLogStore } = await import(${JSON.stringify(new URL('./node.ts', import.meta.url).href)});
      const store = fileLogStore(${JSON.stringify(folder)});
      for (let number = 0; number < 20; ) {
        const before = await store.read(${JSON.stringify(ORIGIN)});
        const all = new Set(before?.split(' '));
        if (await store.replace(${JSON.stringify(ORIGIN)}, before, [...all.add('${writer}/' + number)].join(' '))) number += 1;
      }`;
    const writers = [1, 2, 3].map((writer) =>
      spawn(process.execPath, ['--input-type=module', '-e', program(writer)], { stdio: 'inherit' }),
    );
    const codes = await Promise.all(writers.map((writer) => new Promise((resolve) => writer.once('exit', resolve))));
    expect(codes).toEqual([0, 0, 0]);
    expect(new Set((await fileLogStore(folder).read(ORIGIN))?.split(' ')).size).toBe(60);
  });
});
