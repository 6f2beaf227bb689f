/**
 * A refusal far below the cap is an alert of its own: it takes no threshold's place, least of all that of 100 %, which has still to be told
 * of when the cap is really used up.
 */
export const refusalAlertsMigration = {
  name: '0011-refusal-alerts',
  up: `
    -- Null: no threshold was reached, a request was refused.
    alter table key_budget_alerts alter column threshold drop not null;
    alter table key_budget_alerts add check (threshold is not null or cause = 'refusal');
    create unique index key_budget_alerts_refusal_idx on key_budget_alerts (key_id, period) where threshold is null;

    -- What had to be held for the refused request; null unless the cause is a refusal.
    alter table key_budget_alerts add column required_nano_usd numeric(30, 0);

    -- What was told as 100 % though less than 90 % was spent becomes what it was, and no longer makes the key's status.
    update key_budget_alerts set threshold = null where cause = 'refusal' and spent_nano_usd * 10 < cap_nano_usd::numeric * 9;
    delete from key_budget_refusals r using key_budget_alerts a
     where a.key_id = r.key_id and a.period = r.period and a.cause = 'refusal' and a.threshold is null;
  `,
};
