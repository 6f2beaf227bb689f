import type { Samples } from './sample.ts';

export const IDENTITY: Samples = {
  createUser: {
    sdk: `const user = await tallygate.identity.createUser(
  { email: 'ada@example.com', password: 'seven grey herons at dawn' },
  { internalSecret: 'the secret of the web front end' },
);`,
  },
  login: {
    cli: 'tallygate login --email ada@example.com',
  },
  takeDeviceLogin: { sdk: `const user = await tallygate.deviceLogins.token({ device_code: 'tgd_…' });` },
  getMe: { cli: 'tallygate whoami' },
  updateMe: { cli: 'tallygate account update --name Ada' },
  changePassword: {
    cli: 'tallygate password change',
  },
  requestPasswordReset: {
    cli: 'tallygate password reset --email ada@example.com',
  },
  closeAccount: {
    cli: 'tallygate account close --yes',
  },
  listSessions: {
    cli: 'tallygate sessions list',
  },
  endSession: {
    cli: 'tallygate sessions revoke 019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  },
  getMfaStatus: { cli: 'tallygate mfa status' },
  beginMfa: { cli: 'tallygate mfa enable' },
  disableMfa: {
    cli: 'tallygate mfa disable',
  },
  listAuditLog: {
    cli: 'tallygate audit list --since 7d',
  },
};
