import { testDatabase } from '../../server/src/adapters/postgres/test-database.ts';
import { Gateway } from './gateway.ts';

Gateway.makeDatabase = () => testDatabase('filled');
