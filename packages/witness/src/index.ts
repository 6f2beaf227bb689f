export { type RunningWitness, startWitness, type WitnessSettings } from './server.ts';
