/** Loaded with the first token. A module of ours, since a bundle gives a library of CommonJS that is imported late no names. */
export { GoogleAuth, JWT } from 'google-auth-library';
