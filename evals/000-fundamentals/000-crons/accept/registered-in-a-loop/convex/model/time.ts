export const HOUR = 3600 * 1000;
export const DAY = 24 * HOUR;
