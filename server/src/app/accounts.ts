import { deleteAccountDirectory, releaseDirectoryUser } from '../access/directory/index.ts';
import { createIdentity, type Identity, relyingPartyOf } from '../access/identity/index.ts';
import {
  CachedKeyDirectory,
  createGrantOfKey,
  createKeys,
  createLastUse,
  createManagementKeyDirectory,
  createReadKey,
  type Keys,
  revokeAccountKeys,
  revokeMemberKeys,
  withConstantTimeRefusals,
} from '../access/keys/index.ts';
import { deleteProjectMembers, leaveProjects } from '../access/projects/index.ts';
import { createFileSender } from '../adapters/mail/files.ts';
import type { MailSender } from '../adapters/mail/port.ts';
import { createSmtpSender } from '../adapters/mail/smtp.ts';
import { deleteAccountBatches } from '../inference/batches/index.ts';
import { ClientSecrets, deleteAccountDialogues, deleteCachedAnswers } from '../inference/calls/index.ts';
import { deleteAccountFiles } from '../inference/files/index.ts';
import { type ContentKeys, createContentKeys, createStoring, deleteContentKey, type Storing } from '../inference/stored-content/index.ts';
import { deleteAccountVideos } from '../inference/videos/index.ts';
import { createSecretBox, type SecretBox } from '../kernel/secret-box.ts';
import { createDesk, createOutbox, type Outbox } from '../mail/index.ts';
import type { Catalog } from '../money/catalog/index.ts';
import { createSpendingReader, type SpendingReader } from '../money/limits/index.ts';
import { deleteAccountWebhooks } from '../webhooks/index.ts';
import { internalSecretOf } from './bootstrap.ts';
import type { Foundation } from './foundation.ts';
import { type Authenticator, createAuthenticator } from './http/credentials.ts';
import { createPeerAddress } from './http/peer-address.ts';
import { masterKeysOf } from './master-keys.ts';
import type { OpenPlans } from './plans.ts';
import { resealSecrets } from './reseal.ts';

/** A mail about a user's account must not wait behind a mail to thousands. */
const SMTP_CONNECTIONS = 5;

export interface Accounts {
  readonly identity: Identity;
  readonly keys: Keys;
  readonly keyDirectory: CachedKeyDirectory;
  /** The permissions of a key, for background work without its request. */
  readonly grantOfKey: ReturnType<typeof createGrantOfKey>;
  /** The limits of an account. */
  readonly spendingOf: SpendingReader;
  readonly authenticator: Authenticator;
  readonly clientSecrets: ClientSecrets;
  readonly storing: Storing;
  /** Encrypts stored prompts and answers. */
  readonly content: ContentKeys;
  readonly internalSecret: string;
  /** Encrypts secrets with the master key. */
  readonly box: SecretBox;
  readonly outbox: Outbox;
  /** Takes mails for the world outside. */
  readonly sender: MailSender;
}

interface AccountsDeps {
  readonly foundation: Foundation;
  readonly catalog: Catalog;
  readonly publicUrl: () => string;
  readonly plans: OpenPlans;
}

/** People, their keys, and the mails to them. */
export async function openAccounts({ foundation, catalog, publicUrl, plans }: AccountsDeps): Promise<Accounts> {
  const { config, log, closing, clock, dataDir, pool, em, pulse } = foundation;
  const secretBox = createSecretBox(masterKeysOf(dataDir, config.masterKeys));
  await resealSecrets({ pool, box: secretBox, log });
  const identity = openIdentity({ foundation, publicUrl, plans }, secretBox);
  const { users, sessions } = identity;
  const spendingOf = createSpendingReader(pool);
  const { keys, keyDirectory } = openKeys({ foundation, catalog, plans, users, spendingOf });
  const internalSecret = config.internalSecret ?? internalSecretOf(dataDir);

  const sender = createSender(foundation);
  closing.add('mail sender', () => sender.close());
  const desk = createDesk(secretBox, () => config.webUrl ?? publicUrl(), publicUrl);
  const storing = createStoring({ pool, isAllowed: config.storesContent });
  const grantOfKey = createGrantOfKey({ em, users, spendingOf });
  const clientSecrets = new ClientSecrets({ secret: internalSecret, clock, grantOfKey });
  return {
    identity,
    clientSecrets,
    storing,
    spendingOf,
    keys,
    keyDirectory,
    grantOfKey,
    authenticator: createAuthenticator({
      keys: withConstantTimeRefusals(keyDirectory),
      managementKeys: createManagementKeyDirectory({ pool, users, clock }),
      peerAddress: createPeerAddress(config.trustedProxies),
      ...{ clientSecrets, sessions, storing, internalSecret },
      isStoreSilent: () => pulse.isSilent,
    }),
    internalSecret,
    box: secretBox,
    content: createContentKeys({ pool, box: secretBox }),
    outbox: createOutbox({ pool, sender, desk, log, keptDays: config.mailsKeptDays }),
    sender,
  };
}

const openIdentity = ({ foundation, publicUrl, plans }: Omit<AccountsDeps, 'catalog'>, box: SecretBox): Identity => {
  const { config, clock, pool, em } = foundation;
  return createIdentity({
    ...{ em, pool, box, clock },
    planOf: plans.planOfAccount,
    onAccountClosed: deleteAccountData,
    onStoringOff: deleteCachedAnswers,
    onTakenOver: async (db, closed) => {
      await revokeAccountKeys(db, closed);
      await deleteAccountWebhooks(db, closed);
    },
    async onMemberRemoved(db, removed) {
      await revokeMemberKeys(db, removed);
      await leaveProjects(db, removed);
      await releaseDirectoryUser(db, removed);
    },
    hostName: () => new URL(config.webUrl ?? publicUrl()).hostname,
    relyingParty: () => relyingPartyOf({ publicUrl: publicUrl(), webUrl: config.webUrl, ...config.passkeys }),
  });
};

const deleteAccountData: Parameters<typeof createIdentity>[0]['onAccountClosed'] = async (db, closed) => {
  await revokeAccountKeys(db, closed);
  await deleteProjectMembers(db, closed);
  await deleteAccountDirectory(db, closed);
  await deleteAccountFiles(db, closed);
  await deleteAccountVideos(db, closed);
  await deleteAccountBatches(db, closed);
  await deleteAccountDialogues(db, closed);
  await deleteContentKey(db, closed);
  await deleteAccountWebhooks(db, closed);
};

/** By SMTP where it is configured, else into files. */
const createSender = ({ config, dataDir }: Foundation): MailSender =>
  config.smtpUrl
    ? createSmtpSender({ url: config.smtpUrl, from: config.mailFrom, connections: SMTP_CONNECTIONS })
    : createFileSender({ folder: dataDir.file('mail'), from: config.mailFrom });

interface KeysDeps extends Pick<AccountsDeps, 'foundation' | 'catalog' | 'plans'>, Pick<Identity, 'users'>, Pick<Accounts, 'spendingOf'> {}

function openKeys({ foundation, catalog, plans, users, spendingOf }: KeysDeps): Pick<Accounts, 'keys' | 'keyDirectory'> {
  const { config, log, clock, closing, em } = foundation;
  const keyDirectory = new CachedKeyDirectory({
    read: createReadKey({ em, users, spendingOf }),
    lastUse: createLastUse({ em, log }),
    clock,
  });
  closing.add('key directory', () => keyDirectory.close());
  const keys = createKeys({
    em,
    clock,
    directory: keyDirectory,
    users,
    plans: plans.book,
    isModel: (id) => catalog.find(id) !== undefined,
    testRates: config.testRates,
  });
  return { keys, keyDirectory };
}
