/**
 * The tree of the log as tiles (c2sp.org/tlog-tiles): 256 hashes a row, and of the tree only every eighth level. The nodes between follow from
 * them. A tile that is not whole yet lies in several rows, one after the other.
 */
export const logTilesMigration = {
  name: '0130-log-tiles',
  up: `
create table receipt_log_tiles (
  -- Of tiles: 0 has the leaves, 1 the roots over whole tiles of leaves.
  level smallint not null,
  -- The place of the first hash in its level.
  start bigint not null,
  hashes bytea not null,
  primary key (level, start)
);
-- Hashes cannot be compressed.
alter table receipt_log_tiles alter column hashes set storage external;
insert into receipt_log_tiles (level, start, hashes)
  select level / 8, index / 256 * 256, string_agg(hash, '' order by index) from receipt_log_nodes where level % 8 = 0 group by 1, 2;
drop table receipt_log_nodes;
`,
};
