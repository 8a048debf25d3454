/** The length of every embedding. */
export const DIMENSIONS = 8;

/** The most articles that one search may ask for. */
export const MAX_LIMIT = 256;
