/** Rows of the interface that the contract does not declare yet. A row leaves this list in the change that declares its route. */
export const OWED: readonly string[] = [
  'POST /v1/beta/invite/activate',
  'POST /v1/events/admin/invite-batches',
  'GET /v1/marketing/client-requests',
  'PATCH /v1/marketing/client-requests/{request_id}',
];
