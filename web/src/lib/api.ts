// Requests to the server that the page came from, with the key if there is one. Paths are relative,
// so that the page also works behind a proxy that puts it into a folder.

const place = 'samovar-key';

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Until the tab is closed. */
export function key(): string {
  return sessionStorage.getItem(place) ?? '';
}

export function keepKey(value: string): void {
  sessionStorage.setItem(place, value);
}

export function forgetKey(): void {
  sessionStorage.removeItem(place);
}

export async function open(path: string, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = key() ? { authorization: `Bearer ${key()}` } : {};
  const response = await fetch(path, { headers, cache: 'no-store', ...(signal ? { signal } : {}) });
  if (!response.ok) throw new ApiError(response.status, await message(response));
  return response;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await open(path, signal)).json()) as T;
}

async function message(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null);
  const error = (body as { error?: { message?: unknown } } | null)?.error;
  return typeof error?.message === 'string' ? error.message : `the server answered ${response.status}`;
}
