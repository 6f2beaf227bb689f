import type { Principal } from '../../http/index.ts';

/** Whose files: of an account, and there of live or of test mode, which never see each other. */
export interface Owner {
  readonly accountId: string;
  readonly livemode: boolean;
}

/** Whose files are read. */
export interface Reader {
  readonly accountId: string;
  /** Undefined: of both modes. */
  readonly livemode: boolean | undefined;
}

/** A session sees what there is in either mode; an API key is of one. */
export const readerOf = (principal: Principal): Reader => ({
  accountId: principal.accountId,
  livemode: principal.kind === 'key' ? principal.livemode : undefined,
});

/** Of a list: a session says which mode it is to be, live if it does not. */
export const listerOf = (principal: Principal, livemode = true): Owner => ({
  accountId: principal.accountId,
  livemode: principal.kind === 'key' ? principal.livemode : livemode,
});

/** A session works in live mode. */
export const ownerOf = (principal: Principal): Owner => ({
  accountId: principal.accountId,
  livemode: principal.kind === 'key' ? principal.livemode : true,
});
