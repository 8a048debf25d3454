/** Stands in for the official command line's crash reporting: nothing of a graded project is sent anywhere. */

export function captureException(): void {}

export function captureMessage(): void {}

export function setTag(): void {}

export async function close(): Promise<void> {}
