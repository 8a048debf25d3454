export const statuses = ["open", "closed"] as const;
