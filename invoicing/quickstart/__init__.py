"""What `./dev run` needs: settings, a certificate and a server for a first try."""
