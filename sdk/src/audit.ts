import type { AuditLogEntry, AuditLogResponse } from './generated/models.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { PagedCall, PageQuery } from './transport/paged-call.ts';
import type { Transport } from './transport/transport.ts';

/** Which entries. Times are RFC 3339, UTC; `to` is not included. */
export interface AuditLogQuery extends PageQuery {
  /** Noun and verb, such as `key.created`. */
  readonly action?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** `tallygate.auditLog`: who changed what. */
export class AuditLog {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Changes to the account and its keys, newest first. */
  list(query?: AuditLogQuery, options?: CallOptions): PagedCall<AuditLogResponse, AuditLogEntry> {
    return this.#transport.pages({ path: '/v1/audit-log', query: { ...query } }, entryId, options);
  }

  /** Changes to every account, or to one; for administrators, with a session token. */
  listAll(
    query?: AuditLogQuery & { readonly account_id?: string | undefined },
    options?: CallOptions,
  ): PagedCall<AuditLogResponse, AuditLogEntry> {
    return this.#transport.pages({ path: '/v1/admin/audit-log', query: { ...query } }, entryId, options);
  }
}

const entryId = ({ entry_id }: AuditLogEntry): string => entry_id;
