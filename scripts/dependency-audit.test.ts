import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { advisoriesOf, NotAudited } from './dependency-audit/advisories.ts';
import { judge } from './dependency-audit/judge.ts';
import { lockedVersions, versionsInNpmLock, versionsInPnpmLock } from './dependency-audit/locked-versions.ts';

const advisory = (over: object = {}) => ({
  ...{ package: 'left-pad', url: 'https://github.com/advisories/GHSA-aaaa', title: 'Pads too much', severity: 'high' },
  ...over,
});

describe('an advisory', () => {
  test.each(['moderate', 'high', 'critical', 'unheard of'])('of severity %s fails the audit', (severity) => {
    expect(judge([advisory({ severity })], [], '2026-11-21').refused).toHaveLength(1);
  });

  test.each(['low', 'info'])('of severity %s is noted', (severity) => {
    expect(judge([advisory({ severity })], [], '2026-11-21')).toMatchObject({ refused: [], noted: [expect.stringContaining('Pads')] });
  });

  test('that is accepted is noted with its reason until its day is over, and fails the audit after it', () => {
    const accepted = [{ id: 'GHSA-aaaa', reason: 'only pads tests', until: '2026-11-21' }];
    expect(judge([advisory()], accepted, '2026-11-21')).toMatchObject({ refused: [], noted: [expect.stringContaining('only pads tests')] });
    expect(judge([advisory()], accepted, '2026-11-22')).toMatchObject({ refused: [expect.stringContaining('GHSA-aaaa')], noted: [] });
  });

  test('that is accepted but no longer found is named, so that the list shrinks', () => {
    expect(judge([], [{ id: 'GHSA-aaaa', reason: 'x', until: '2027-01-01' }], '2026-11-21').unused).toEqual(['GHSA-aaaa']);
  });
});

describe('the lock files', () => {
  test('are read with every version, of scoped packages and of those that have peers too', () => {
    const text = `lockfileVersion: '9.0'\n\npackages:\n\n  '@scope/a@1.0.0':\n    resolution: {integrity: x}\n\n  b@2.0.0-rc.1:\n    engines: {node: '>=1'}\n\n  b@1.0.0:\n\nsnapshots:\n\n  'c@3.0.0(b@1.0.0)':\n`;
    expect(Object.fromEntries(lockedVersions(versionsInPnpmLock(text)))).toEqual({
      '@scope/a': new Set(['1.0.0']),
      b: new Set(['2.0.0-rc.1', '1.0.0']),
    });
    const npm = JSON.stringify({ packages: { '': {}, 'node_modules/a/node_modules/@s/b': { version: '1.2.3' } } });
    expect(versionsInNpmLock(npm)).toEqual([['@s/b', '1.2.3']]);
  });

  test('of this repository hold what it is built with', () => {
    const versions = lockedVersions(versionsInPnpmLock(readFileSync(new URL('../pnpm-lock.yaml', import.meta.url), 'utf8')));
    expect(versions.size).toBeGreaterThan(300);
    for (const name of ['vitest', 'express', 'pg', '@ts-rest/core']) expect(versions.has(name)).toBe(true);
  });

  test.each(['pnpm', 'pnpm-and-node'])('of scripts/tools/%s have the sha512 of every file', (folder) => {
    const { packages } = JSON.parse(readFileSync(new URL(`./tools/${folder}/package-lock.json`, import.meta.url), 'utf8'));
    const files = Object.entries<{ integrity?: string; resolved?: string }>(packages).filter(([path]) => path !== '');
    expect(files.length).toBeGreaterThan(1);
    for (const [path, { integrity, resolved }] of files)
      expect([path, integrity, resolved]).toEqual([path, expect.stringMatching(/^sha512-/), undefined]);
  });
});

describe('the registry', () => {
  let close = () => {};
  afterEach(() => close());

  async function registryThat(answer: (asked: unknown) => { status: number; body: string }): Promise<string> {
    const server = createServer(async (req, res) => {
      const { status, body } = answer(await json(req));
      res.writeHead(req.url === '/npm/-/npm/v1/security/advisories/bulk' ? status : 404).end(body);
    }).listen(0, '127.0.0.1');
    close = () => server.close();
    await once(server, 'listening');
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/npm`;
  }
  const versions = lockedVersions([
    ['left-pad', '1.0.0'],
    ['left-pad', '1.1.0'],
  ]);

  test('is asked for all versions at once, and its advisories are those of the packages', async () => {
    let asked: unknown;
    const { package: _, ...told } = advisory();
    const url = await registryThat((body) => {
      asked = body;
      return { status: 200, body: JSON.stringify({ 'left-pad': [{ id: 1, ...told }] }) };
    });
    expect(await advisoriesOf(versions, url)).toEqual([advisory()]);
    expect(asked).toEqual({ 'left-pad': ['1.0.0', '1.1.0'] });
  });

  test.each([
    ['has no such endpoint', 405, ''],
    ['fails', 503, ''],
    ['answers with a page', 200, '<html>'],
  ])('that %s has audited nothing, which is no advisory', async (_, status, body) => {
    await expect(advisoriesOf(versions, await registryThat(() => ({ status, body })))).rejects.toBeInstanceOf(NotAudited);
  });

  test('that cannot be reached has audited nothing, which is no advisory', async () => {
    const url = await registryThat(() => ({ status: 200, body: '{}' }));
    close();
    await expect(advisoriesOf(versions, url)).rejects.toBeInstanceOf(NotAudited);
  });
});
