/** The anchor of a receipt is the first of the furthest state that holds it: looked up for every receipt of a month. */
export const anchorsByStateMigration = {
  name: '0053-anchors-by-state',
  up: 'create index anchors_by_state on anchors (state, tree_size, created_at)',
};
