const times = { createdAt: "created_at", updatedAt: "updated_at" };

/** better-auth's models under our names. */
export const columns = {
  user: {
    modelName: "sign_in_users",
    fields: { ...times, emailVerified: "email_verified" },
    additionalFields: {
      walletNetwork: { type: "string", required: false, input: false, fieldName: "wallet_network" },
      walletAddress: { type: "string", required: false, input: false, fieldName: "wallet_address" },
    },
  },
  session: {
    modelName: "sign_in_sessions",
    fields: { ...times, userId: "user_id", expiresAt: "expires_at", ipAddress: "ip_address", userAgent: "user_agent" },
  },
  account: {
    modelName: "sign_in_identities",
    fields: {
      ...times,
      userId: "user_id",
      accountId: "account_id",
      providerId: "provider_id",
      accessToken: "access_token",
      refreshToken: "refresh_token",
      idToken: "id_token",
      accessTokenExpiresAt: "access_token_expires_at",
      refreshTokenExpiresAt: "refresh_token_expires_at",
    },
  },
  verification: { modelName: "sign_in_verifications", fields: { ...times, expiresAt: "expires_at" } },
} as const;

/** The models of better-auth's plugin of passkeys. */
export const passkeyColumns = {
  passkey: {
    modelName: "sign_in_passkeys",
    fields: {
      userId: "user_id",
      publicKey: "public_key",
      credentialID: "credential_id",
      deviceType: "device_type",
      backedUp: "backed_up",
      createdAt: "created_at",
    },
  },
} as const;
