/**
 * The texts of people beside their numbers, so that comparing those of ten thousand reads an index and no rows. What an index can hold is limited,
 * and folding may make a text of a few hundred letters long: such ones are looked up in their rows.
 */
export const peopleTextsMigration = {
  name: '0083-people-texts',
  up: `
create index people_texts on people (n) include (search_text) where octet_length(search_text) <= 1000;
create index people_long_texts on people (n) where octet_length(search_text) > 1000;
`,
};
