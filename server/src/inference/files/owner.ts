import type { Principal } from '../../http/index.ts';

/** Whose files: of an account, and there of live or of test mode, which never see each other. */
export interface Owner {
  readonly accountId: string;
  readonly livemode: boolean;
}

/** A session works in live mode. */
export const ownerOf = (principal: Principal): Owner => ({
  accountId: principal.accountId,
  livemode: principal.kind === 'key' ? principal.livemode : true,
});
