import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiKey } from './api-key.ts';
import { CachedKeyDirectory, type KnownKey, type ReadKey } from './cached-key-directory.ts';
import type { KeyGrant } from './key-directory.ts';
import { formatKey, newSecret, secretHash } from './key-secret.ts';

const NOW = Date.UTC(2026, 10, 21);
const secret = newSecret();
const plainKey = formatKey({ kind: 'live', lookupId: 'aaaaaaaaaaaa', secret });

let nowMs = NOW;
let stored: ApiKey | undefined;
let read: ReturnType<typeof vi.fn<ReadKey>>;
let directory: CachedKeyDirectory;

beforeEach(() => {
  nowMs = NOW;
  stored = apiKey();
  read = vi.fn<ReadKey>(async () => stored && known(stored));
  const lastUse = { note: vi.fn(), flush: vi.fn(), close: vi.fn() };
  directory = new CachedKeyDirectory({ read, lastUse, clock: { now: () => nowMs } });
  directory.listening();
});

function apiKey(over: Partial<ApiKey> = {}): ApiKey {
  const columns = { id: 'key-1', accountId: 'account-1', livemode: true, secretHash: secretHash(secret), revokedAt: null, expiresAt: null };
  return Object.assign(Object.create(ApiKey.prototype), columns, { previousSecretHash: null, previousExpiresAt: null }, over);
}

function known(key: ApiKey): KnownKey {
  const grant: KeyGrant = {
    principal: { kind: 'key', keyId: key.id, accountId: 'account-1', userId: 'user-1', role: 'member', scopes: new Set(), livemode: true },
    monthlyCap: null,
    plan: 'free',
  };
  return { key, grant };
}

describe('a hot key', () => {
  test('answers synchronously, without another read', async () => {
    await directory.authenticate(plainKey);
    expect(directory.authenticate(plainKey)).not.toBeInstanceOf(Promise);
    expect(read).toHaveBeenCalledTimes(1);
  });

  test('is read once for any number of first requests', async () => {
    await Promise.all(Array.from({ length: 50 }, () => directory.authenticate(plainKey)));
    expect(read).toHaveBeenCalledTimes(1);
  });

  test('is read again after its change is heard', async () => {
    await directory.authenticate(plainKey);
    stored = apiKey({ revokedAt: new Date(NOW) });
    directory.changed('aaaaaaaaaaaa');
    await expect(directory.authenticate(plainKey)).rejects.toMatchObject({ code: 'invalid_credentials' });
  });

  test('is read again after a change of its account', async () => {
    await directory.authenticate(plainKey);
    directory.changed('account:other');
    expect(directory.authenticate(plainKey)).not.toBeInstanceOf(Promise);
    directory.changed('account:account-1');
    await directory.authenticate(plainKey);
    expect(read).toHaveBeenCalledTimes(2);
  });

  test('expires by the clock, at the very millisecond', async () => {
    stored = apiKey({ expiresAt: new Date(NOW + 1000) });
    await directory.authenticate(plainKey);
    nowMs = NOW + 999;
    expect(directory.authenticate(plainKey)).toMatchObject({ plan: 'free' });
    nowMs = NOW + 1000;
    expect(() => directory.authenticate(plainKey)).toThrow('The API key is not valid');
  });
});

describe('a read that a change overtakes', () => {
  test.each(['aaaaaaaaaaaa', 'account:account-1'])('is not remembered and not joined (%s)', async (payload) => {
    const slow = Promise.withResolvers<KnownKey | undefined>();
    read.mockReturnValueOnce(slow.promise);
    const before = directory.authenticate(plainKey);
    directory.changed(payload);
    const after = directory.authenticate(plainKey);
    slow.resolve(known(apiKey()));
    await Promise.all([before, after]);
    expect(read).toHaveBeenCalledTimes(2);
  });

  test('is not remembered after the connection was lost meanwhile', async () => {
    const slow = Promise.withResolvers<KnownKey | undefined>();
    read.mockReturnValueOnce(slow.promise);
    const before = directory.authenticate(plainKey);
    directory.disconnected();
    directory.listening();
    slow.resolve(known(apiKey()));
    await before;
    await directory.authenticate(plainKey);
    expect(read).toHaveBeenCalledTimes(2);
  });
});

describe('without the listening connection', () => {
  test('nothing is answered from memory, and reads are remembered again once it is back', async () => {
    await directory.authenticate(plainKey);
    directory.disconnected();
    for (let time = 0; time < 3; time++) await directory.authenticate(plainKey);
    expect(read).toHaveBeenCalledTimes(4);
    directory.listening();
    for (let time = 0; time < 3; time++) await directory.authenticate(plainKey);
    expect(read).toHaveBeenCalledTimes(5);
  });
});

describe('a bad key', () => {
  test('with a wrong checksum is refused without a read', () => {
    expect(() => directory.authenticate(`${plainKey.slice(0, -1)}~`)).toThrow('The API key is not valid');
    expect(read).not.toHaveBeenCalled();
  });

  test('with an unknown id is read once a second at most', async () => {
    stored = undefined;
    await expect(directory.authenticate(plainKey)).rejects.toThrow();
    nowMs += 999;
    expect(() => directory.authenticate(plainKey)).toThrow();
    nowMs += 1;
    await expect(directory.authenticate(plainKey)).rejects.toThrow();
    expect(read).toHaveBeenCalledTimes(2);
  });

  test('of the right id and the wrong mode or secret is refused', async () => {
    for (const parts of [
      { kind: 'test', secret },
      { kind: 'mgmt', secret },
      { kind: 'live', secret: newSecret() },
    ] as const)
      await expect(async () => directory.authenticate(formatKey({ lookupId: 'aaaaaaaaaaaa', ...parts }))).rejects.toThrow('not valid');
  });

  test('whose read fails is read again the next time', async () => {
    read.mockRejectedValueOnce(new Error('database gone'));
    await expect(directory.authenticate(plainKey)).rejects.toThrow('database gone');
    await directory.authenticate(plainKey);
  });
});
