import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Users } from '../access/identity/index.ts';
import type { Keys, PlainKey } from '../access/keys/index.ts';
import { randomBase62 } from '../kernel/ids.ts';
import { OPERATOR } from '../money/plans/index.ts';
import type { DataDir } from './data-dir.ts';

/** What the first start made, for the operator: `DATA_DIR/bootstrap.json`, readable by its owner alone. */
export interface Bootstrap {
  readonly base_url: string;
  readonly admin_email: string;
  /** Empty where the database had its administrator before this data directory: then only its owner knows. */
  readonly admin_password: string;
  readonly test_api_key: string;
  readonly internal_secret: string;
  readonly metrics_token: string;
}

/** What matters here of a user. */
interface Owner {
  readonly id: string;
  readonly account: { readonly id: string };
}

interface BootstrapDeps {
  readonly dataDir: DataDir;
  readonly users: { findByEmail(email: string): Promise<Owner | undefined>; create(...of: Parameters<Users['create']>): Promise<Owner> };
  readonly keys: { create(...of: Parameters<Keys['create']>): Promise<Pick<PlainKey, 'plainKey'>> };
  readonly baseUrl: string;
  readonly internalSecret: string;
  readonly metricsToken: string;
}

const ADMIN_EMAIL = 'admin@tallygate.localhost';
const FILE = 'bootstrap.json';
const PASSWORD_LENGTH = 24;
const SECRET_LENGTH = 43;

/**
 * Makes the administrator and a test key on the first boot, and finds them again on later ones. The password is written down before the user
 * exists, so a first boot that is killed at any moment is finished by the next one.
 */
export async function bootstrap({ dataDir, users, keys, baseUrl, internalSecret, metricsToken }: BootstrapDeps): Promise<Bootstrap> {
  const known = read(dataDir);
  const email = known?.admin_email ?? ADMIN_EMAIL;
  const existing = known?.test_api_key ? undefined : await users.findByEmail(email);
  const draft = {
    base_url: baseUrl,
    admin_email: email,
    admin_password: known?.admin_password || (existing ? '' : randomBase62(PASSWORD_LENGTH)),
    test_api_key: known?.test_api_key ?? '',
    internal_secret: internalSecret,
    metrics_token: metricsToken,
  };
  writePrivateFile(dataDir.file(FILE), toJson(draft));
  if (draft.test_api_key !== '') return draft;

  const admin =
    existing ??
    (await users.create(
      { email: draft.admin_email, password: draft.admin_password, name: 'Administrator' },
      { role: 'admin', isVerified: true, givenPlan: OPERATOR },
    ));
  const { plainKey } = await keys.create(
    { kind: 'service', accountId: admin.account.id, userId: admin.id },
    { name: 'first test key', livemode: false, scopes: ['inference', 'account:read'] },
  );
  const complete = { ...draft, test_api_key: plainKey };
  writePrivateFile(dataDir.file(FILE), toJson(complete));
  return complete;
}

/** The internal secret of earlier boots, or a new one. */
export const internalSecretOf = (dataDir: DataDir): string => read(dataDir)?.internal_secret || randomBase62(SECRET_LENGTH);

/** The metrics token of earlier boots, or a new one. */
export const metricsTokenOf = (dataDir: DataDir): string => read(dataDir)?.metrics_token || randomBase62(SECRET_LENGTH);

/** A secret of this data directory's own, made by `create` on first use. */
export function keptSecret(dataDir: Pick<DataDir, 'file'>, name: string, create: () => Buffer): Buffer {
  const path = dataDir.file(name);
  if (!existsSync(path)) writePrivateFile(path, `${create().toString('base64')}\n`);
  return Buffer.from(readFileSync(path, 'utf8'), 'base64');
}

function read(dataDir: DataDir): Partial<Bootstrap> | undefined {
  const path = dataDir.file(FILE);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Partial<Bootstrap>) : undefined;
}

const toJson = (value: Bootstrap): string => `${JSON.stringify(value, null, 2)}\n`;

/** Whole or not at all: written beside, made durable, then renamed. */
function writePrivateFile(path: string, text: string): void {
  const beside = `${path}.new`;
  writeFileSync(beside, text, { mode: 0o600 });
  const fd = openSync(beside, 'r');
  fsyncSync(fd);
  closeSync(fd);
  renameSync(beside, path);
}
