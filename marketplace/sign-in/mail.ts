import { createTransport } from "nodemailer";
import { ApiError } from "../../shared/errors.ts";
import type { SignInConfig } from "./config.ts";

/** The library's own limits are minutes, and a person waits for the answer. */
const patience = { connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 10_000 };

/** Sends sign-in links, and e-mail to creators. */
export interface Mailer {
  /** Resolves once the mail server has taken the e-mail; 503 when it does not. */
  sendLink(to: string, link: string, minutes: number): Promise<void>;
  /** Sends an e-mail of plain text, and resolves as sendLink does. */
  send(to: string, subject: string, text: string): Promise<void>;
  stop(): void;
}

export function createMailer({ mail }: SignInConfig, host: string): Mailer | undefined {
  if (!mail) return undefined;
  const transport = createTransport({ url: mail.smtpUrl.reveal(), ...patience }, { from: mail.from });
  const send = async (address: string, subject: string, text: string, failure: string) => {
    await transport.sendMail({ to: { name: "", address }, subject, text }).catch((cause) => {
      throw new ApiError("unavailable", failure, { cause });
    });
  };
  return {
    send: (to, subject, text) => send(to, subject, text, "The e-mail could not be sent."),
    sendLink: async (to, link, minutes) => {
      const text = [
        `You, or a person who typed your address, asked to sign in to ${host} with it.`,
        "Open this link to do it:",
        link,
        `It works once, for ${minutes} minutes. If it was not you, do nothing.`,
      ].join("\n\n");
      await send(to, `Sign in to ${host}`, text, "The link could not be sent; try again shortly.");
    },
    stop: () => transport.close(),
  };
}

/** Whether an e-mail that was not sent is surely with no mail server; of one whose answer was lost nobody knows. */
export function isSurelyUnsent(error: unknown): boolean {
  const { responseCode, syscall = "", message = "" }: Failure = (error as { cause?: Failure }).cause ?? {};
  if (responseCode !== undefined) return true;
  return ["connect", "getaddrinfo"].includes(syscall) || /^(Greeting never received|Connection timeout)$/.test(message);
}

/** As nodemailer tells it: what the mail server answered, or how it was not reached. */
interface Failure {
  readonly responseCode?: number;
  readonly syscall?: string;
  readonly message?: string;
}
