/** The build puts them into one file. */
declare module '*.css';
