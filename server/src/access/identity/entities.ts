import { defineEntity, p } from '@mikro-orm/core';

export const DeviceLogin = defineEntity({
  name: 'DeviceLogin',
  tableName: 'device_logins',
  properties: {
    id: p.uuid().primary(),
    deviceCodeHash: p.blob().$type<Buffer>(),
    userCodeHash: p.blob().$type<Buffer>(),
    clientName: p.text(),
    ipAddress: p.text().nullable(),
    userAgent: p.text().nullable(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    intervalSeconds: p.integer(),
    polledAt: p.datetime().nullable(),
    userId: p.uuid().nullable(),
    decision: p.enum(['approved', 'denied']).nullable(),
    decidedAt: p.datetime().nullable(),
  },
});

export const DirectorySignIn = defineEntity({
  name: 'DirectorySignIn',
  tableName: 'directory_sign_ins',
  properties: {
    id: p.uuid().primary(),
    stateHash: p.blob().$type<Buffer>().unique(),
    nonce: p.text(),
    codeVerifier: p.text(),
    returnTo: p.text(),
    returnState: p.text().nullable(),
    codeChallenge: p.text(),
    codeHash: p.blob().$type<Buffer>().nullable().unique(),
    userId: p.uuid().nullable(),
    directorySession: p.text().nullable(),
    expiresAt: p.datetime(),
  },
});

export const KnownAddress = defineEntity({
  name: 'KnownAddress',
  tableName: 'known_addresses',
  properties: {
    userId: p.uuid().primary(),
    addressHash: p.blob().$type<Buffer>().primary(),
    seenAt: p.datetime(),
  },
});

export const LoginChallenge = defineEntity({
  name: 'LoginChallenge',
  tableName: 'login_challenges',
  properties: {
    tokenHash: p.blob().$type<Buffer>().primary(),
    userId: p.uuid(),
    tries: p.integer().defaultRaw('0'),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

export const LoginFailure = defineEntity({
  name: 'LoginFailure',
  tableName: 'login_failures',
  properties: {
    id: p.uuid().primary(),
    userId: p.uuid().nullable(),
    kind: p.enum(['password', 'second_factor', 'passkey']),
    ip: p.text().nullable(),
    userAgent: p.text().nullable(),
    requestId: p.text(),
    failedAt: p.datetime(),
    recorded: p.boolean().defaultRaw('false'),
    toldAt: p.datetime().nullable(),
  },
});

export const MailRequest = defineEntity({
  name: 'MailRequest',
  tableName: 'mail_requests',
  properties: {
    id: p.uuid().primary(),
    purpose: p.enum(['verify-email', 'reset-password']),
    email: p.text(),
    userId: p.uuid().nullable(),
    requestedAt: p.datetime(),
  },
});

export const MailToken = defineEntity({
  name: 'MailToken',
  tableName: 'mail_tokens',
  properties: {
    tokenHash: p.blob().$type<Buffer>().primary(),
    userId: p.uuid(),
    purpose: p.enum(['verify-email', 'reset-password']),
    email: p.text(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

export const MemberInvitationEntity = defineEntity({
  name: 'MemberInvitation',
  tableName: 'member_invitations',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    email: p.text(),
    accountRole: p.enum(['owner', 'admin', 'billing', 'developer', 'viewer']),
    externalId: p.text().nullable(),
    tokenHash: p.blob().$type<Buffer>().unique(),
    invitedBy: p.uuid(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

export const PasskeyEntity = defineEntity({
  name: 'Passkey',
  tableName: 'passkeys',
  properties: {
    id: p.uuid().primary(),
    userId: p.uuid(),
    credentialId: p.blob().$type<Buffer>().unique(),
    publicKey: p.blob().$type<Buffer>(),
    signCount: p.bigint('bigint'),
    isBackupEligible: p.boolean(),
    isBackedUp: p.boolean(),
    transports: p.array<string>().columnType('text[]'),
    name: p.text(),
    createdAt: p.datetime(),
    lastUsedAt: p.datetime().nullable(),
  },
});

export const PasskeyChallenge = defineEntity({
  name: 'PasskeyChallenge',
  tableName: 'passkey_challenges',
  properties: {
    challengeHash: p.blob().$type<Buffer>().primary(),
    purpose: p.enum(['registration', 'login', 'second-factor']),
    userId: p.uuid().nullable(),
    expiresAt: p.datetime(),
  },
});

export const RecoveryCode = defineEntity({
  name: 'RecoveryCode',
  tableName: 'mfa_recovery_codes',
  properties: {
    userId: p.uuid().primary(),
    codeHash: p.blob().$type<Buffer>().primary(),
    usedAt: p.datetime().nullable(),
  },
});

export const Throttle = defineEntity({
  name: 'Throttle',
  tableName: 'throttles',
  properties: {
    key: p.blob().$type<Buffer>().primary(),
    attempts: p.integer(),
    blockedUntil: p.datetime(),
    attemptedAt: p.datetime(),
  },
});
