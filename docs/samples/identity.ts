import type { Samples } from './sample.ts';

export const IDENTITY: Samples = {
  createUser: {
    sdk: `const user = await tallygate.identity.createUser(
  { email: 'ada@example.com', password: 'seven grey herons at dawn' },
  { internalSecret: 'the secret of the web front end' },
);`,
  },
  login: {
    sdk: `const user = await tallygate.identity.login({ email: 'ada@example.com', password: 'seven grey herons at dawn' });`,
    cli: 'tallygate login --email ada@example.com',
  },
  loginMfa: { sdk: `const user = await tallygate.identity.loginMfa({ challenge_token: 'mfa_…', code: '492039' });` },
  beginDeviceLogin: { sdk: `const begun = await tallygate.deviceLogins.begin({ client_name: 'deploy on build-7' });` },
  takeDeviceLogin: { sdk: `const user = await tallygate.deviceLogins.token({ device_code: 'tgd_…' });` },
  findDeviceLogin: { sdk: `const { client_name } = await tallygate.deviceLogins.find({ user_code: 'WDJB-MJHT' });` },
  approveDeviceLogin: { sdk: `await tallygate.deviceLogins.approve({ user_code: 'WDJB-MJHT' });` },
  denyDeviceLogin: { sdk: `await tallygate.deviceLogins.deny({ user_code: 'WDJB-MJHT' });` },
  logout: { sdk: 'await tallygate.identity.logout();' },
  getMe: { sdk: 'const me = await tallygate.identity.me();', cli: 'tallygate whoami' },
  updateMe: { sdk: `await tallygate.identity.update({ name: 'Ada' });`, cli: 'tallygate account update --name Ada' },
  changePassword: {
    sdk: `await tallygate.identity.changePassword({ current_password: 'seven grey herons at dawn', new_password: 'another horse, other staples' });`,
    cli: 'tallygate password change',
  },
  requestPasswordReset: {
    sdk: `await tallygate.identity.requestPasswordReset('ada@example.com');`,
    cli: 'tallygate password reset --email ada@example.com',
  },
  resetPassword: {
    sdk: `await tallygate.identity.resetPassword({ token: 'from the mail', new_password: 'another horse, other staples' });`,
  },
  verifyEmail: { sdk: `await tallygate.identity.verifyEmail('from the mail');` },
  resendVerification: { sdk: `await tallygate.identity.resendVerification('ada@example.com');` },
  closeAccount: {
    sdk: `await tallygate.identity.close({ password: 'seven grey herons at dawn' });`,
    cli: 'tallygate account close --yes',
  },
  listSessions: {
    sdk: 'for await (const session of tallygate.sessions.list()) console.log(session.session_id);',
    cli: 'tallygate sessions list',
  },
  endSession: {
    sdk: `await tallygate.sessions.revoke('019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77');`,
    cli: 'tallygate sessions revoke 019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  },
  getMfaStatus: { sdk: 'const { enabled } = await tallygate.mfa.status();', cli: 'tallygate mfa status' },
  beginMfa: { sdk: 'const { otpauth_uri } = await tallygate.mfa.begin();', cli: 'tallygate mfa enable' },
  confirmMfa: { sdk: `await tallygate.mfa.confirm({ password: 'seven grey herons at dawn', code: '492039' });` },
  disableMfa: {
    sdk: `await tallygate.mfa.disable({ password: 'seven grey herons at dawn', code: '492039' });`,
    cli: 'tallygate mfa disable',
  },
  listAuditLog: {
    sdk: 'for await (const entry of tallygate.auditLog.list()) console.log(entry.action);',
    cli: 'tallygate audit list --since 7d',
  },
};
