/** True if only this machine can reach the address. */
export function isLoopback(host: string | undefined): boolean {
  return host !== undefined && /^(?:localhost|127(?:\.\d{1,3}){3}|::1|0:0:0:0:0:0:0:1)$/i.test(host)
}
