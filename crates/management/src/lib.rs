//! The messages of NFD's management protocol: commands, responses, status datasets, notifications.
