import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bootstrap, bootstrap, internalSecretOf, keptSecret, metricsTokenOf } from './bootstrap.ts';
import { type DataDir, openDataDir } from './data-dir.ts';

let dataDir: DataDir;
beforeEach(() => {
  dataDir = openDataDir(mkdtempSync(join(tmpdir(), 'tallygate-bootstrap-')));
});
afterEach(() => {
  dataDir.release();
  rmSync(dataDir.path, { recursive: true });
});

type Step = 'find' | 'create user' | 'user created' | 'create key' | 'key created';
const STEPS: readonly Step[] = ['find', 'create user', 'user created', 'create key', 'key created'];

/** A database that outlives the process, and a process that dies on command. */
function openDatabase() {
  const passwords = new Map<string, string>();
  const keys: string[] = [];
  let deadly: Step | undefined;
  const reach = (step: Step) => {
    if (step === deadly) throw new Error(`killed at: ${step}`);
  };
  const owner = { id: 'admin', account: { id: 'account' } };
  const boot = (dieAt?: Step): Promise<Bootstrap> => {
    deadly = dieAt;
    return bootstrap({
      dataDir,
      baseUrl: 'http://127.0.0.1:8787/v1',
      internalSecret: internalSecretOf(dataDir),
      metricsToken: metricsTokenOf(dataDir),
      users: {
        findByEmail: async (email) => {
          reach('find');
          return passwords.has(email) ? owner : undefined;
        },
        create: async ({ email, password }) => {
          reach('create user');
          if (passwords.has(email)) throw new Error('the address is taken');
          passwords.set(email, password);
          reach('user created');
          return owner;
        },
      },
      keys: {
        create: async () => {
          reach('create key');
          keys.push(`tg_test_${keys.length}`);
          reach('key created');
          return { plainKey: keys.at(-1) ?? '' };
        },
      },
    });
  };
  return { boot, passwords, keys };
}

const written = (): unknown => JSON.parse(readFileSync(dataDir.file('bootstrap.json'), 'utf8'));

test.each(STEPS)('a first boot that is killed at "%s" is finished by the next one', async (step) => {
  const { boot, passwords, keys } = openDatabase();
  await expect(boot(step)).rejects.toThrow('killed');
  const made = await boot();
  expect(passwords.get(made.admin_email)).toBe(made.admin_password);
  expect(keys.at(-1)).toBe(made.test_api_key);
  expect(written()).toEqual(made);
  expect(await boot()).toEqual(made);
});

test('later boots make nothing, follow the address, and keep the secrets', async () => {
  const { boot, keys } = openDatabase();
  const made = await boot();
  expect(made).toMatchObject({ admin_password: expect.stringMatching(/^\w{24}$/), internal_secret: expect.stringMatching(/^\w{43}$/) });
  expect(made.metrics_token).toMatch(/^\w{43}$/);
  expect(metricsTokenOf(dataDir)).toBe(made.metrics_token);
  await boot();
  expect(keys).toHaveLength(1);
  expect(statSync(dataDir.file('bootstrap.json')).mode & 0o777).toBe(0o600);
});

test('an administrator of another data directory keeps a password that is not claimed to be known', async () => {
  const { boot, passwords } = openDatabase();
  passwords.set('admin@tallygate.localhost', 'theirs');
  expect(await boot()).toMatchObject({ admin_password: '', test_api_key: 'tg_test_0' });
  expect(passwords.get('admin@tallygate.localhost')).toBe('theirs');
});

test('a write that was cut off leaves what was there', async () => {
  const { boot } = openDatabase();
  const made = await boot();
  writeFileSync(dataDir.file('bootstrap.json.new'), '{"base_u');
  expect(await boot()).toEqual(made);
});

test('a secret is created once and stored, readable by its owner only', () => {
  const secret = keptSecret(dataDir, 'one.key', () => Buffer.alloc(32, 7));
  expect(keptSecret(dataDir, 'one.key', () => Buffer.alloc(32, 8))).toEqual(secret);
  expect(statSync(dataDir.file('one.key')).mode & 0o777).toBe(0o600);
});
