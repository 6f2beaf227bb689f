/** Reads through what 0200 left unread while it held its locks. */
export const validatedActorsMigration = {
  name: '0201-validated-actors',
  up: [
    'alter table audit_log validate constraint audit_log_actor_kind_check',
    'alter table person_history validate constraint person_history_actor_kind_check',
    'alter table key_budget_changes validate constraint key_budget_changes_actor_kind_check',
  ],
};
