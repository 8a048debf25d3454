"""Words that names and values of secrets are told by."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())


# Behind the name of a secret: it stays one.
QUALIFIERS = words(
    "prod production dev development test testing staging stage live local value string raw plain plaintext text "
    "old new current default backup main primary secondary env var"
)
PASSWORDS = words("password passwd passphrase passcode passwort pwd mnemonic")
SHORT_PASSWORDS = words("pass pw")
SECRETS = words("secret secrets token credential credentials apikey apitoken pat auth")
# Spelled as one word.
JOINED = {
    "apikey": "api-key",
    "secretkey": "secret-key",
    "accesskey": "access-key",
    "privatekey": "private-key",
    "deploykey": "deploy-key",
    "signingkey": "signing-key",
    "encryptionkey": "encryption-key",
    "masterkey": "master-key",
    "authkey": "auth-key",
    "licensekey": "license-key",
    "authtoken": "token",
    "accesstoken": "token",
    "refreshtoken": "token",
    "sessiontoken": "token",
    "bearertoken": "token",
    "apitoken": "token",
    "apisecret": "secret",
    "clientsecret": "client-secret",
    "appsecret": "secret",
}
# Before `key`.
KEYS = words(
    "api access private secret auth signing encryption deploy service master admin webhook license account "
    "subscription shared storage app application role hmac ssh iam"
)
# Words before `token` that make it a thing of parsers, models and pages, and before `key` what anybody may see.
HARMLESS = words(
    "next previous prev page continuation pagination cursor cancel cancellation abort sync eos bos pad unk sep "
    "cls mask special stop start end first last max min per num number total input output prompt completion "
    "cached reasoning public publishable design color lexer parser syntax expected unexpected current invalid "
    "missing"
)
PUBLIC = words("public publishable")
PROVIDERS = words(
    "mistral deepseek cohere together fireworks cerebras groq openai anthropic gemini google openrouter "
    "perplexity replicate convex cloudflare datadog vercel netlify heroku azure twilio stripe supabase firebase "
    "aws clerk github gitlab slack discord telegram sentry resend sendgrid mailgun pinecone algolia mapbox npm"
)
# Values that stand for one.
PLACEHOLDERS = words(
    "string str text number boolean bool any unknown bytes object array null none nil undefined true false "
    "required optional password passwd pwd pass passphrase secret token key apikey bearer basic changeme "
    "placeholder example sample dummy fake redacted removed hidden masked todo tbd empty value test default "
    "varchar char uuid integer username user email name input type auto inherit read write admin root self this "
    "foo bar baz"
)
# What values that stand for one are put together of.
VOCABULARY = PLACEHOLDERS | words(
    "api auth access private public client change me your my the an a of for in is not no new old here enter "
    "insert replace put add paste with invalid wrong bad missing incorrect weak strong valid super long very some "
    "random short mismatch expired found error field reset forgot confirm current too must match and or to hash "
    "hashed session refresh id jwt csrf signing webhook service credentials credential keys tokens"
)
