export { exportPeople } from './export-people.ts';
export { importPeople } from './import-people.ts';
export type { PersonRecords } from './person-records.ts';
export { peopleRoutes } from './routes.ts';
