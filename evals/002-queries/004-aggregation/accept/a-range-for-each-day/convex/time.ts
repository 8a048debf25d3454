export const HOURS = 60 * 60 * 1000;
export const DAYS = 24 * HOURS;
